"""How the options of contracts become questions: allowed values, what they mean, and "none"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import msgspec

from ..gateway.errors import DeclarationError
from ..gateway.questions import Choice

UNMATCHED: Final = "UNMATCHED"
"""WORKFLOW_EXPECTED_INPUT's own word for "none of these", where the contract has none (A15)."""

NEITHER: Final = "NEITHER"
"""TRANSACTION_CONFIRMATION's own word, where each allowed value confirms or rejects."""

DEFAULT_ALLOWED: Final = 3
"""The first meanings of a language are what it is asked with by default: yes, no, neither."""

ENGLISH: Final = ("YES", "NO", "CONTINUE")
PORTUGUESE: Final = ("SIM", "NAO", "CONTINUAR")

CONFIRM: Final = ("YES", "SIM")
REJECT: Final = ("NO", "NAO", "NÃO")
NEUTRAL: Final = ("CONTINUE", "CONTINUAR", NEITHER)


def meanings(words: tuple[str, ...], yes: str, no: str, other: str) -> dict[str, str]:
    """Describe the usual *words* of contracts, the language's own first; accents or none."""
    return {**dict(zip(words, (yes, no, other) * 2, strict=True)), "NÃO": no}


def normal(value: object) -> str:
    """Write a value as contracts compare them: without surrounding blanks, in one case."""
    return str(value).strip().upper()


def texts(given: Mapping[str, Any], field: str, default: Iterable[str] = ()) -> list[str]:
    """
    Read a list of texts from the state.

    Raises:
        DeclarationError: It is no list, or an entry is no text or blank.

    """
    found: Any = given.get(field)
    values: list[Any] = [*default] if found is None else _listed(found, field)
    if not all(isinstance(one, str) and one.strip() for one in values):
        raise DeclarationError(f"the state's {field!r} are texts that say something")
    return values


def _listed(found: object, field: str) -> list[Any]:
    if isinstance(found, list | tuple):
        return [*cast("list[Any]", found)]
    raise DeclarationError(f"the state's {field!r} must be a list of texts")


def expected_options(question: Choice, given: Mapping[str, Any]) -> Choice:
    """
    Close WORKFLOW_EXPECTED_INPUT: the allowed values, and one that says "none of them" (A15).

    Raises:
        DeclarationError: There is no allowed value, or the sentinel is one of them.

    """
    allowed = texts(given, "allowed_values")
    if not allowed:
        raise DeclarationError("the state's 'allowed_values' must hold at least one value")
    said: Any = given.get("unmatched_value")
    return _closed(question, given, allowed, said or UNMATCHED, UNMATCHED)


def confirmation_options(question: Choice, given: Mapping[str, Any]) -> Choice:
    """
    Close TRANSACTION_CONFIRMATION: the allowed values, and "neither" where none says so.

    A value says "neither" if the state gives both lists and it is in none of them; without
    the lists only the usual words for it do, among nothing but usual words.

    Without allowed values the first three of the language are asked: yes, no, and neither.

    Raises:
        DeclarationError: There is no allowed value, or `NEITHER` is a confirming one.

    """
    allowed = texts(given, "allowed_values", [*question.options][:DEFAULT_ALLOWED])
    if not _has_neutral(given, allowed):
        return _closed(question, given, allowed, NEITHER, NEITHER)
    described = _described(question, given, allowed)
    return msgspec.structs.replace(question, options=described, sentinel=None, open=False)


def _has_neutral(given: Mapping[str, Any], allowed: list[str]) -> bool:
    said = {normal(one) for one in allowed}
    unlisted = said - {*confirming(given), *rejecting(given)}
    if given.get("confirm_values") and given.get("reject_values"):
        return bool(unlisted)
    # an unknown word in no list of ours may be the contract's own yes or no
    return said <= {*CONFIRM, *REJECT, *NEUTRAL} and not unlisted.isdisjoint(NEUTRAL)


def confirming(given: Mapping[str, Any]) -> list[str]:
    """Read the values that confirm, normalised."""
    return [normal(one) for one in texts(given, "confirm_values", CONFIRM)]


def rejecting(given: Mapping[str, Any]) -> list[str]:
    """Read the values that reject, normalised."""
    return [normal(one) for one in texts(given, "reject_values", REJECT)]


def _closed(
    question: Choice, given: Mapping[str, Any], allowed: list[str], sentinel: str, own: str
) -> Choice:
    if normal(sentinel) in map(normal, allowed):
        problem = f"the sentinel {sentinel!r} is also an allowed value"
        raise DeclarationError(f"{problem}: name another that no reply can be taken for")
    described = _described(question, given, allowed)
    described[sentinel] = _meaning(question, given, sentinel) or question.options[own]
    return msgspec.structs.replace(question, options=described, sentinel=sentinel, open=False)


def _described(question: Choice, given: Mapping[str, Any], allowed: list[str]) -> dict[str, str]:
    return {value: _meaning(question, given, value) for value in allowed}


def _meaning(question: Choice, given: Mapping[str, Any], value: str) -> str:
    """Describe a value in the contract's words, else in the point's, else not at all."""
    own: Any = given.get("option_descriptions")
    told: Any = cast("Mapping[str, Any]", own).get(value) if isinstance(own, Mapping) else None
    if told:
        return str(told)
    return question.options.get(normal(value), "")
