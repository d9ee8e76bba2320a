"""What reads the values of an attribute into one canonical form each (RF-15)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

from ..assertions import Value, digest
from .choices import booleans, clocks, names, options
from .dates import Habits, dates
from .identifiers import IDENTIFIERS, identifier
from .money import moneys
from .numbers import Reader, numbers
from .plainly import encode, scalar, table_of
from .texts import malformed, said

if TYPE_CHECKING:
    from ..policy import Attribute, Policy

VERSION: Final = 1  # of everything that reads; another one where any of it gives other texts

SHORT: Final = 256  # characters of a raw text that is kept with what it was read as
KEPT: Final = 8_192  # texts of an attribute


class Normaliser(Protocol):
    """
    What reads the values of an attribute.

    Attributes:
        id: Its type and version, `money@1`, and behind a `+` a hash of the options that change
            what it reads; hierarchies and tolerances do not.

    """

    id: str

    def read(self, raw: str) -> Value:
        """
        Read a value.

        Args:
            raw: As the source wrote it.

        Raises:
            Refused: `not_a_value`: it says that there is none; `ambiguous_value`: it is two, and
                nothing declared says which; `malformed_value`: it is none of the type.
            SetupError: A library for it is not installed.

        """
        ...


class _Read:
    def __init__(self, attribute: Attribute) -> None:
        self.form = attribute.type
        make, told = _READERS[attribute.type]
        self._reader = make(attribute)
        self.id = _named(attribute, told)
        self._kept = lru_cache(maxsize=KEPT)(self._value)

    def read(self, raw: str) -> Value:
        return self._kept(raw) if len(raw) <= SHORT else self._value(raw)

    def _value(self, raw: str) -> Value:
        return Value(self.form, self._reader(raw))


@lru_cache(maxsize=1_024)
def _reads(attribute: Attribute) -> _Read:
    return _Read(attribute)


def normaliser(attribute: Attribute, policy: Policy | None = None) -> Normaliser:  # noqa: ARG001 - hierarchies are no matter of form, and callers need not know
    """
    Give what reads values of *attribute*; the same one each time.

    Args:
        attribute: As declared.
        policy: The policy that declares it; nothing else in it changes how a value is read.

    """
    return _reads(attribute)


def _named(attribute: Attribute, told: tuple[str, ...]) -> str:
    said_of = {name: one for name in told if (one := getattr(attribute, name)) not in _DEFAULTS}
    if attribute.fields:
        said_of["fields"] = {name: _reads(one).id for name, one in attribute.fields.items()}
    return f"{attribute.type}@{VERSION}" + (f"+{digest(said_of)[:8]}" if said_of else "")


_DEFAULTS: Final[tuple[object, ...]] = ("", (), {}, "fold", "UTC")

_Make = Callable[["Attribute"], Reader]


def _full(make: _Make) -> _Make:
    """Refuse what says nothing before it is read, and read it without the spaces around it."""

    def made(attribute: Attribute) -> Reader:
        reader = make(attribute)

        def read(raw: str) -> str:
            if not (raw[:1].isdigit() and raw.isascii() and raw.isprintable()):
                said(raw)  # no word for nothing starts with a digit
            return reader(raw.strip())

        return read

    return made


def _texts(attribute: Attribute) -> Reader:
    case = attribute.case
    return lambda raw: said(raw, case=case)


def _ids(attribute: Attribute) -> Reader:
    return identifier(attribute.type)


def _records(attribute: Attribute) -> Reader:
    parts = {name: _reads(one) for name, one in attribute.fields.items()}

    def read(raw: str) -> str:
        table = table_of(raw)
        if not table.keys() <= parts.keys():
            malformed("it is no table of the fields declared", f"Write some of {sorted(parts)}")
        found = {
            name: parts[name].read(scalar(one)) for name, one in table.items() if one is not None
        }
        if not found:
            said("")
        return encode({name: (one.form, one.text) for name, one in found.items()}).decode()

    return read


_READERS: Final[Mapping[str, tuple[_Make, tuple[str, ...]]]] = {
    "text": (_texts, ("case",)),
    "place": (_texts, ("case",)),
    "number": (_full(lambda one: numbers(one.locale)), ("locale",)),
    "money": (_full(lambda one: moneys(one.locale, one.currency)), ("locale", "currency")),
    "date": (
        _full(lambda one: dates(Habits(one.locale, one.zone, one.formats))),
        ("locale", "zone", "formats"),
    ),
    "time": (_full(lambda _: clocks), ()),
    "boolean": (_full(lambda _: booleans), ()),
    "enum": (lambda one: options(one.options), ("options",)),
    "names": (_full(lambda one: names(one.case)), ("case",)),
    "record": (_full(_records), ()),
    **{kind: (_full(_ids), ()) for kind in IDENTIFIERS},
}
"""Type → what makes its reader, and the options that change what that reads."""

TYPES: Final = tuple(_READERS)
"""Every type that an attribute may have."""
