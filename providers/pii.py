"""
The mask `pii`: what names a person is replaced by what it was, as in `<EMAIL_ADDRESS>`.

Found by form and check digits, in any language and without a model: e-mail and IP addresses,
phone numbers (international ones, and those of Brazil and North America as people write them
there), payment cards, IBAN, CPF and CNPJ. Names and postal addresses are not found.

Two well-kept libraries know the numbers: `phonenumbers` (Google's tables) and `python-stdnum`
(check digits). They need nothing else, and no model; presidio and scrubadub would bring spaCy
or scikit-learn for the same patterns.
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import phonenumbers
from stdnum import iban, luhn
from stdnum.br import cnpj, cpf

REGIONS = ("BR", "US")  # whose national numbers are found; international ones always are
SHORTEST = 7  # digits of a phone number
FIND: Any = phonenumbers.PhoneNumberMatcher
ISSUERS = "23456"  # first digits of payment cards
BLANK = r"[\s.\-–]{1,3}"  # between the groups of a number
ALONE, ENDED = r"(?<!\d)(?<!\d[.,])", r"(?!\d)"  # a number by itself: no decimals of another


class Recogniser(NamedTuple):
    """What is looked for: its label, its form, and whether what has the form is one."""

    label: str
    form: re.Pattern[str]
    valid: Callable[[str], bool]


def _always(_: str) -> bool:
    return True


def _checked(valid: Callable[[str], object]) -> Callable[[str], bool]:
    """Check the letters and digits alone, as ASCII writes them."""

    def check(text: str) -> bool:
        plain = unicodedata.normalize("NFKC", text).upper()
        return bool(valid("".join(one for one in plain if one.isalnum())))

    return check


def _iban(text: str) -> bool:
    return bool(iban.is_valid(text, check_country=False))


def _address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return any(map(str.isdigit, text))  # `a::b` is code


def _form(*parts: str) -> re.Pattern[str]:
    return re.compile("".join(parts), re.IGNORECASE)


def _card(digits: str) -> bool:
    return digits[0] in ISSUERS and bool(luhn.is_valid(digits))


RECOGNISERS = (
    Recogniser(
        "EMAIL_ADDRESS",
        _form(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_][\w-]{1,62}"),
        _always,
    ),
    *(  # one for each length, the longest first, since the words that follow look alike
        Recogniser(
            "IBAN_CODE",
            _form(rf"(?<![^\W_])[A-Z]{{2}}\d{{2}}(?:[ \-]?[A-Z0-9]){{{length - 4}}}(?![^\W_])"),
            _checked(_iban),
        )
        for length in range(34, 14, -1)
    ),
    Recogniser(
        "CNPJ",  # since 2026 with letters
        _form(
            r"(?<![^\W_])[A-Z0-9]{2}[\s.]?[A-Z0-9]{3}[\s.]?[A-Z0-9]{3}",
            r"[\s/]?[A-Z0-9]{4}[\s\-–]?\d{2}(?![^\W_])",
        ),
        _checked(cnpj.is_valid),
    ),
    *(
        Recogniser("CREDIT_CARD", _form(ALONE, digits, ENDED), _checked(_card))
        for digits in (
            rf"\d{{4}}{BLANK}\d{{4}}{BLANK}\d{{4}}{BLANK}\d{{4}}{BLANK}\d{{3}}",
            rf"\d{{4}}{BLANK}\d{{4}}{BLANK}\d{{4}}{BLANK}\d{{4}}",
            rf"\d{{4}}{BLANK}\d{{6}}{BLANK}\d{{4,5}}",
            r"\d{13,19}",
        )
    ),
    Recogniser(
        "CPF",
        _form(ALONE, r"\d{3}[\s.]?\d{3}[\s.]?\d{3}[\s.\-–]{0,3}\d{2}", ENDED),
        _checked(cpf.is_valid),
    ),
    Recogniser(
        "IP_ADDRESS",
        _form(r"(?<![\w.:])(?=[\da-f]{0,4}:)[\da-f:]{2,40}[\da-f:.]{0,16}(?<![.])(?![\w:])"),
        _address,
    ),
    Recogniser(
        "IP_ADDRESS",
        _form(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\w)(?![.,]\d)"),
        _address,
    ),
    Recogniser("PHONE_NUMBER", _form(ALONE, r"9\d{4}-\d{4}", ENDED), _always),  # no area code
)


def pii(text: str) -> str:
    """Replace what names a person in *text*; what is left is found no more."""
    while _may_hold(text):
        seen, text = text, _once(text)
        if seen == text:
            break
    return text


def _may_hold(text: str) -> bool:
    return "@" in text or any(map(str.isdigit, text))


def _is_amount(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 3) : start].rstrip(), text[end : end + 2]
    return before.endswith(("$", "€", "£")) or (after[:1] in {".", ","} and after[1:].isdigit())


def _once(text: str) -> str:
    for label, form, valid in RECOGNISERS[:-1]:
        text = _replaced(text, _spans(text, form, valid), label)
    for region in REGIONS:
        text = _replaced(text, _phones(text, region, phonenumbers.Leniency.VALID), "PHONE_NUMBER")
    possible = phonenumbers.Leniency.POSSIBLE  # a `+` says what it is
    text = _replaced(text, _phones(text, None, possible), "PHONE_NUMBER")
    label, form, valid = RECOGNISERS[-1]
    return _replaced(text, _spans(text, form, valid), label)


def _spans(
    text: str, form: re.Pattern[str], valid: Callable[[str], bool]
) -> Iterator[tuple[int, int]]:
    at = 0
    while found := form.search(text, at):
        right = valid(found[0])
        if right:
            yield found.span()
        at = found.end() if right else found.start() + 1  # one may begin inside what is none


def _phones(text: str, region: str | None, leniency: int) -> Iterator[tuple[int, int]]:
    if sum(map(str.isdigit, text)) < SHORTEST:
        return
    for found in FIND(text, region, leniency=leniency, max_tries=len(text) + 1):
        if region is None or not _is_amount(text, found.start, found.end):
            yield found.start, found.end


def _replaced(text: str, spans: Iterator[tuple[int, int]], label: str) -> str:
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += [text[at:start], f"<{label}>"]
        at = end
    return "".join([*parts, text[at:]]) if parts else text
