"""What the host knows of a question's stakes: read from one field of its state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, cast

import msgspec

from ....gateway.errors import NoAnswer, Reason


class Value(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What is at stake.

    Attributes:
        amount: In units of the currency; None: nobody knows.
        currency: ISO 4217 code.

    """

    amount: Annotated[float, msgspec.Meta(ge=0)] | None = None
    currency: str = ""


class Risk(msgspec.Struct, frozen=True, kw_only=True):
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


def risk_of(state: object, field: str) -> Risk:
    """
    Read the stakes from *state*; a state that has no such field has no stakes.

    Raises:
        NoAnswer: `wrong_type`: the field cannot be read, and guessing would hide a risk.

    """
    told = cast("Mapping[str, Any]", state).get(field) if isinstance(state, Mapping) else None
    if told is None:
        return Risk()
    try:
        risk = msgspec.convert(told, Risk, strict=True)
    except msgspec.ValidationError:
        raise NoAnswer(Reason.WRONG_TYPE) from None
    if risk.value is not None and not math.isfinite(risk.value.amount or 0.0):
        raise NoAnswer(Reason.WRONG_TYPE)
    return risk
