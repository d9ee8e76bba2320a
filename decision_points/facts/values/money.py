"""
Amounts of money: amount, currency, period and whether tax is in it are one value (RF-82).

Nothing is converted: another currency, period or tax basis is another value.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import Final

import msgspec

from ..keys import tidy
from .numbers import Reader, lacking, number_of, written_number
from .plainly import scalar, table_of
from .texts import ambiguous, malformed

LONGEST: Final = 160  # characters of an amount with its words

_SYMBOLS: Final = {
    "r$": "BRL",
    "reais": "BRL",
    "real": "BRL",
    "us$": "USD",
    "u$": "USD",
    "ca$": "CAD",
    "c$": "CAD",
    "a$": "AUD",
    "au$": "AUD",
    "nz$": "NZD",
    "hk$": "HKD",
    "s$": "SGD",
    "mx$": "MXN",
    "€": "EUR",
    "euro": "EUR",
    "euros": "EUR",
    "£": "GBP",
    "₹": "INR",
    "₩": "KRW",
    "₽": "RUB",
    "₺": "TRY",
    "₪": "ILS",
    "₫": "VND",
    "₴": "UAH",
    "₦": "NGN",
    "₲": "PYG",
}

_DOLLARS: Final = (
    "ARS AUD BBD BMD BND BSD BZD CAD CLP COP FJD GYD HKD JMD LRD MXN NAD NZD SBD SGD SRD TTD TWD "
    "USD UYU XCD"
)
_CROWNS: Final = "DKK ISK NOK SEK"
_SHARED: Final = {
    "$": _DOLLARS,
    "dollar": _DOLLARS,
    "dollars": _DOLLARS,
    "dólar": _DOLLARS,
    "dólares": _DOLLARS,
    "¥": "CNY JPY",
    "kr": _CROWNS,
    "kr.": _CROWNS,
}
"""Signs of several currencies: which one it is only the attribute can say."""

_PERIODS: Final = {
    "hour": "hour|hr|h|hourly|hora|horas",
    "day": "day|daily|dia|diário|diária",
    "week": "week|weekly|wk|semana|semanal",
    "month": "month|monthly|mo|mês|mes|mensal|mensais|mensalmente",
    "quarter": "quarter|quarterly|trimestre|trimestral",
    "year": "year|yearly|yr|annual|annually|annum|ano|anual|anuais|anualmente",
}
_TAXES: Final = {
    "net": "net|net of tax|net of taxes|before tax|before taxes|without tax|plus tax|tax excluded|"
    "excl. vat|excluding vat|ex vat|plus vat|+ vat|+vat|excl. tax|excluding tax|"
    "sem imposto|sem impostos|mais impostos|+ impostos|líquido",
    "gross": "gross|with tax|incl. vat|including vat|inc. vat|incl. tax|including tax|tax included|"
    "vat included|com imposto|com impostos|impostos inclusos|impostos incluídos|bruto",
}

_AMOUNT = re.compile(r"\d(?:[\d.,'’\s]*\d)?(?:[Ee][+-]?\d+)?", re.ASCII)
_LEADING = re.compile(r"(?:/|\b(?:per|por|ao|à|a|an|each)\b)\s*")

_BY_PERIOD = {word: name for name, words in _PERIODS.items() for word in words.split("|")}
_BY_TAX = {word: name for name, words in _TAXES.items() for word in words.split("|")}


class Money(msgspec.Struct, frozen=True, order=True, omit_defaults=True):
    """
    An amount of money.

    Attributes:
        amount: How much.
        currency: Its ISO code, as `BRL`.
        period: For each `hour`, `day`, `week`, `month`, `quarter` or `year`; empty: once, or it
            does not say.
        tax: `net`: tax comes on top; `gross`: it is in it; empty: it does not say.

    """

    amount: Decimal
    currency: str
    period: str = ""
    tax: str = ""


def written_money(money: Money) -> str:
    """Write money in its canonical text: `BRL 1234.5 per month net`."""
    text = f"{money.currency} {written_number(money.amount)}"
    if money.period:
        text += f" per {money.period}"
    return f"{text} {money.tax}" if money.tax else text


def money_of(text: str) -> Money:
    """Take apart a canonical text."""
    currency, amount, *rest = text.split(" ")
    period = rest[1] if rest[:1] == ["per"] else ""
    tax = rest[-1] if rest and rest[-1] in _TAXES else ""
    return Money(Decimal(amount), currency, period, tax)


def moneys(locale: str, currency: str) -> Reader:
    """
    Give what reads amounts of money.

    Args:
        locale: Whose signs numbers are written with; empty: not known.
        currency: That of amounts that name none, or one by a sign of several; empty: not known.

    """

    def read(raw: str) -> str:
        if raw.startswith("{"):
            return written_money(_of_table(raw, locale, currency))
        return written_money(_of_text(raw, locale, currency))

    return read


def _of_table(raw: str, locale: str, currency: str) -> Money:
    table = table_of(raw)
    if not table.keys() <= set(Money.__struct_fields__):
        malformed("it is no table of amount, currency, period and tax")
    said = {name: scalar(one).strip() for name, one in table.items()}
    if not said.get("amount"):
        malformed("it has no amount")
    return Money(
        number_of(said["amount"], locale),
        _currency(tidy(said.get("currency", "")), currency),
        _known("period", _bare(tidy(said.get("period", ""))), _BY_PERIOD),
        _known("tax", tidy(said.get("tax", "")), _BY_TAX),
    )


def _of_text(raw: str, locale: str, currency: str) -> Money:
    found = _AMOUNT.search(raw[:LONGEST])
    if found is None or len(raw) > LONGEST:
        malformed("it is no amount of money")
    before, after = tidy(raw[: found.start()]), tidy(raw[found.end() :])
    sign = "-" if before[:1] in ("-", "−") or before[-1:] in ("-", "−") else ""
    words = [before.strip("-−+ ")]
    amount = number_of(sign + found[0].strip(), locale)
    period, tax = "", ""
    for part in _parts(after):
        if not period and _bare(part) in _BY_PERIOD:
            period = _BY_PERIOD[_bare(part)]
        elif not tax and part in _BY_TAX:
            tax = _BY_TAX[part]
        else:
            words.append(part)
    return Money(amount, _currency(" ".join(filter(None, words)), currency), period, tax)


def _parts(text: str) -> list[str]:
    """Part what stands behind an amount: at commas and brackets, slashes, and known words."""
    parts: list[str] = []
    rest = re.sub(r"[,;()]", " ", text).replace("/", " /").strip()
    while rest:
        words = rest.split(" ")
        for length in range(len(words), 0, -1):
            part = " ".join(words[:length]).strip()
            if part in _BY_TAX or _bare(part) in _BY_PERIOD or length == 1:
                parts.append(part)
                rest = " ".join(words[length:]).strip()
                break
    return parts


def _bare(text: str) -> str:
    return _LEADING.sub("", text, count=1).strip(" ")


def _known(what: str, word: str, words: dict[str, str]) -> str:
    if word and word not in words:
        malformed(f"its {what} is none that is known")
    return words.get(word, "")


def _currency(word: str, declared: str) -> str:
    if not word:
        return declared or ambiguous("it names no currency", "Write one, or declare it")
    if word in _SYMBOLS:
        return _SYMBOLS[word]
    if word in _SHARED:
        if declared and declared in _SHARED[word]:
            return declared
        ambiguous("its sign is of several currencies", "Write the code, or declare the currency")
    code = word.upper()
    if code != declared and code not in _codes():
        malformed("beside the amount it has words that are no currency, period or tax basis")
    return code


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    try:
        from babel.numbers import list_currencies
    except ImportError:
        raise lacking("Babel") from None
    return frozenset(list_currencies())
