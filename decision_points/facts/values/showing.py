"""Values for those who use them: as Python's, as texts for people, and back as they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final, cast

from ..assertions import Value
from .money import money_of
from .numbers import machine_text, written_number
from .plainly import encode, scalar, table_of
from .texts import malformed

_WORDS: Final = {
    "pt": {
        "true": "sim",
        "false": "não",
        "net": "sem impostos",
        "gross": "com impostos",
        "unknown": "desconhecido",
        "ended": "encerrado",
        "deny": "não há",
        "hour": "por hora",
        "day": "por dia",
        "week": "por semana",
        "month": "por mês",
        "quarter": "por trimestre",
        "year": "por ano",
    },
    "en": {
        "true": "yes",
        "false": "no",
        "net": "before tax",
        "gross": "with tax",
        "deny": "there is none",
        "hour": "per hour",
        "day": "per day",
        "week": "per week",
        "month": "per month",
        "quarter": "per quarter",
        "year": "per year",
    },
}

NO_VALUES: Final = ("kind", "unknown", "ended", "deny")
"""Forms of what is no value: of a fact, and of one member of a set, which is then the text."""

_DAY = 10  # characters of a date in a canonical text


def plain(value: Value) -> Any:  # noqa: ANN401 - as many types as values have
    """
    Give a value as Python has it.

    Returns:
        `Decimal`, `bool`, `Money`, a `date`, a `datetime` in UTC, a `time`, a tuple of names, a
        dict; text for everything else, also for a month or a year; None for what is no value.

    """
    return _PLAIN.get(value.form, str)(value.text)


def shown(value: Value, language: str = "en") -> str:
    """
    Write a value for people; not escaped, and numbers without signs between thousands.

    Args:
        value: What to write.
        language: `en` or `pt`, as in `pt-BR`; others are English.

    """
    show = _SHOWN.get(value.form)
    return show(value.text, "pt" if language[:2].lower() == "pt" else "en") if show else value.text


def raw_of(given: object) -> str:
    """
    Write what a caller gave as a source would have.

    Args:
        given: A text, which stays as it is; a number, written so that no locale reads another
            one, as `12` or `1.5E0`; true or false; a date, a time; `Money`, a table, a list or a
            set, as JSON; a `Value`; None, of which nothing is left.

    Raises:
        Refused: `malformed_value`: nothing that values are made of.

    """
    if isinstance(given, date | time):  # a datetime is a date
        return given.isoformat()
    try:
        return scalar(_writable(given))
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        return malformed("it is nothing that values are made of", "Give text, a number or a date")


def _writable(given: object) -> object:
    if isinstance(given, Value):
        return _of_value(given)
    if isinstance(given, Mapping):
        table = cast("Mapping[object, object]", given)
        return {str(name): _writable(one) for name, one in table.items()}
    if isinstance(given, list | tuple):
        return [_writable(one) for one in cast("list[object]", given)]
    if isinstance(given, AbstractSet):
        return sorted((_writable(one) for one in cast("set[object]", given)), key=encode)
    return Decimal(repr(given)) if isinstance(given, float) else given


def _of_value(value: Value) -> object:
    match value.form:
        case "number":
            return machine_text(Decimal(value.text))
        case "money" | "names":
            return _writable(plain(value))
        case "record":
            return {name: _of_value(Value(*one)) for name, one in table_of(value.text).items()}
        case _:
            return value.text


def _date(text: str) -> date | str:
    if len(text) < _DAY:
        return text
    return datetime.fromisoformat(text) if len(text) > _DAY else date.fromisoformat(text)


def _record(text: str) -> dict[str, Any]:
    return {name: plain(Value(*one)) for name, one in table_of(text).items()}


_PLAIN: Final[Mapping[str, Callable[[str], Any]]] = {
    "number": Decimal,
    "boolean": "true".__eq__,
    "money": money_of,
    "date": _date,
    "time": time.fromisoformat,
    "names": lambda text: tuple(text.split("|")),
    "record": _record,
    **dict.fromkeys(NO_VALUES, lambda _: None),
}


def _number_shown(text: str, language: str) -> str:
    return text.replace(".", ",") if language == "pt" else text


def _money_shown(text: str, language: str) -> str:
    money, words = money_of(text), _WORDS[language]
    text = f"{money.currency} {_number_shown(written_number(money.amount), language)}"
    text = f"{text} {words[money.period]}" if money.period else text
    return f"{text}, {words[money.tax]}" if money.tax else text


def _word_shown(text: str, language: str) -> str:
    return _WORDS[language].get(text, text)


def _record_shown(text: str, language: str) -> str:
    parts = table_of(text).items()
    return ", ".join(f"{name}: {shown(Value(*one), language)}" for name, one in parts)


_SHOWN: Final[Mapping[str, Callable[[str, str], str]]] = {
    "number": _number_shown,
    "money": _money_shown,
    "date": lambda text, _: text.replace("T", " ").replace("Z", " UTC"),
    "boolean": _word_shown,
    "kind": _word_shown,
    "names": lambda text, _: "; ".join(text.split("|")),
    "record": _record_shown,
    "unknown": lambda text, language: f"{text}: {_word_shown('unknown', language)}",
    "ended": lambda text, language: f"{text}: {_word_shown('ended', language)}",
    "deny": lambda text, language: f"{text}: {_word_shown('false', language)}",
}
