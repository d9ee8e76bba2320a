"""What the host knows of a question's stakes: read from one field of its state."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Annotated, Any, cast

import msgspec

from ....gateway.errors import NoAnswer, Reason
from ....gateway.state import frozen
from ..drafts import own


class Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What is at stake.

    Attributes:
        amount: In units of the currency; None: nobody knows.
        currency: ISO 4217 code.

    """

    amount: Annotated[float, msgspec.Meta(ge=0)] | None = None
    currency: str = ""


class Risk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    The stakes of one question, as the host's policy says; no role has a say in them.

    Attributes:
        value: Value at risk; None: the host says nothing of it.
        irreversible: The decision cannot be taken back.
        risk_class: `CATASTROPHIC` sends it to a person; any other word does nothing.
        out_of_scope: Nobody here knows this field.
        critical: The question is for the council from the start.

    """

    value: Value | None = None
    irreversible: bool = False
    risk_class: str = ""
    out_of_scope: bool = False
    critical: bool = False

    @property
    def catastrophic(self) -> bool:
        """Whether a person has to decide (DD-53)."""
        return self.risk_class.strip().upper() == "CATASTROPHIC"

    def known(self, currency: str) -> float | None:
        """Give the value at risk in *currency*; None: it is unknown, or in another one (AM-33)."""
        if self.value is None or self.value.amount is None:
            return None
        same = self.value.currency.strip().upper() == currency.upper()
        return self.value.amount if same else None


def plain_state(state: object) -> object:
    """
    Give *state* in plain values, whatever it was made of: a struct, a dataclass, a model.

    Raises:
        NoJson: It holds something that is no JSON.

    """
    return own(*frozen(state))


def risk_of(state: object, field: str) -> Risk:
    """
    Read the stakes from *state*, whatever that is made of; one without the field has no stakes.

    Raises:
        NoAnswer: `wrong_type`: the field cannot be read, or holds something that is no stake, and
            guessing would hide a risk. A note of the error names the nearest field.

    """
    plain = plain_state(state)
    told = cast("Mapping[str, Any]", plain).get(field) if isinstance(plain, Mapping) else None
    if told is None:
        return Risk()
    try:
        risk = msgspec.convert(told, Risk, strict=True)
    except msgspec.ValidationError:
        raise _unread(told, field) from None
    if risk.value is not None and not math.isfinite(risk.value.amount or 0.0):
        raise _unread(told, field)
    return risk


def _unread(told: object, field: str) -> NoAnswer:
    """Refuse it, and help whoever wrote it; what it holds is not repeated."""
    fault = NoAnswer(Reason.WRONG_TYPE, operator=True)
    known = ", ".join(Risk.__struct_fields__)
    fault.add_note(f"{field!r} cannot be read: it holds {known}, each of its own type")
    for near in _near(told):
        fault.add_note(f"Did you mean {near!r}?")
    return fault


def _near(told: Any) -> list[str]:  # noqa: ANN401 - plain JSON
    """Name the fields that unknown ones are nearest to."""
    fields = Risk.__struct_fields__
    given: list[Any] = list(told) if isinstance(told, dict) else []  # pyright: ignore[reportUnknownArgumentType]
    names = [str(one) for one in given if one not in fields]
    return [near for one in names for near in difflib.get_close_matches(one, fields, 1)]
