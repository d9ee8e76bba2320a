"""Texts: what may be in one, what says nothing, and the form in which two are the same."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal, NoReturn, TypeAlias

from ..errors import Refused
from ..keys import seen, tidy

Case: TypeAlias = Literal["fold", "keep"]

_UNFIT: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls, but for tabs and ends of lines
    "\u202a-\u202e"  # make a person see the signs in another order than they are in
    "\ud800-\udfff"  # halves of characters
    "\U000e0000-\U000e007f]"  # letters that only machines see
)

_NOTHING: Final = frozenset(
    {
        *("n/a", "#n/a", "n.a.", "na", "n/d", "n.d.", "nd", "nil", "none", "null", "nan"),
        *("not available", "not applicable", "not known", "not specified", "unspecified"),
        *("unknown", "undefined", "unavailable", "missing", "tba", "tbc", "tbd"),
        *("to be announced", "to be confirmed", "to be decided", "to be defined"),
        *("to be determined", "no data", "no information", "no value"),
        *("a combinar", "a confirmar", "a definir", "a informar", "desconhecida", "desconhecido"),
        *("em aberto", "indefinida", "indefinido", "indisponível", "indisponivel"),
        *("nenhum", "nenhuma", "nulo", "não aplicável", "nao aplicavel", "não consta"),
        *("nao consta", "não disponível", "nao disponivel", "não informada", "nao informada"),
        *("não informado", "nao informado", "não se aplica", "nao se aplica", "não sei", "nao sei"),
        *("sem dados", "sem informação", "sem informacao"),
    }
)
"""What people write where there is nothing to write, in English and Portuguese (RF-10)."""

_KINDS_INSTEAD: Final = "To say that it is not known, ended or there is none, use kind="


def unfit(text: str) -> str:
    """Say why nobody may have to read *text*; empty: it is fit to be read."""
    if (text.isascii() and text.isprintable()) or not _UNFIT.search(text):
        return ""
    return "has characters that are not shown, or not where they stand"


def says_nothing(folded: str) -> bool:
    """Whether a *folded* text stands where there is no value: `n/a`, `a definir`, `-`, `…`."""
    if folded in _NOTHING or not folded:
        return True
    if folded[0].isalnum():
        return folded.strip("().[] ") in _NOTHING
    within = folded.strip("()[]<>. ")
    return within in _NOTHING or not any(unicodedata.category(one)[0] in "LNS" for one in within)


def said(raw: str, *, case: Case = "fold") -> str:
    """
    Give the form in which texts are the same that differ in spaces, composition or case.

    Args:
        raw: As it was written.
        case: `keep`: upper and lower case are told apart.

    Raises:
        Refused: `malformed_value`: it has unseen characters; `not_a_value`: it says nothing.

    """
    problem = unfit(raw)
    if problem:
        raise Refused("malformed_value", f"it {problem}", "Write it without them")
    folded = tidy(raw)
    if says_nothing(folded):
        problem = "it stands where there is no value"
        raise Refused("not_a_value", problem, f'{_KINDS_INSTEAD}"unknown", "ended" or "deny"')
    return folded if case == "fold" else seen(raw)


def malformed(problem: str, fix: str = "") -> NoReturn:
    """Refuse a value that is none of its type."""
    raise Refused("malformed_value", problem, fix)


def ambiguous(problem: str, fix: str = "") -> NoReturn:
    """Refuse a value that is two, with nothing to say which (RF-15)."""
    raise Refused("ambiguous_value", problem, fix)
