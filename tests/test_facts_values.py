"""Values: one canonical form each, nothing guessed, and how two of them stand."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal, localcontext
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pointsman.decision_points.facts.assertions import Value
from pointsman.decision_points.facts.errors import Refused
from pointsman.decision_points.facts.policy import Attribute, Policy
from pointsman.decision_points.facts.values import (
    TYPES,
    Money,
    finer,
    normaliser,
    plain,
    raw_of,
    same,
    shown,
    within,
)

SPELLINGS = {"Open": ("listed", "aberto"), "Closed": ("fechado",), "N/A": ()}
FIELDS = {
    "city": Attribute(name="city", type="place", hierarchy="places"),
    "built": Attribute(name="built", type="date"),
    "area": Attribute(name="area", type="number", locale="pt_BR"),
}
PLACES = {"milan": "lombardy", "pavia": "lombardy", "lombardy": "italy", "brera": "milan"}
POLICY = Policy(hierarchies={"places": PLACES})

LOCALES = ("", "pt_BR", "en_US", "fr_FR", "de_CH")


def attribute(kind: str, **more: Any) -> Attribute:
    """An attribute of a type, with what that type needs."""
    needs: dict[str, Any] = {"enum": {"options": SPELLINGS}, "record": {"fields": FIELDS}}
    return Attribute(name="x", type=kind, **{**needs.get(kind, {}), **more})


def read(raw: object, kind: str = "text", **more: Any) -> Value:
    return normaliser(attribute(kind, **more)).read(raw_of(raw))


def refused(raw: object, kind: str = "text", **more: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        read(raw, kind, **more)
    return caught.value


words = st.sampled_from(
    [
        *("2026", "14", "11", "3", "/", "-", ".", ",", "12:30", "pm", "h", "Z", "-03:00", "UTC"),
        *("de", "november", "nov", "março", "sex", "of", "th", "º", "R$", "$", "USD", "€", "BRL"),
        *("per month", "/mês", "+ vat", "net", "(", ")", "1.234,56", "1,234.56", "'", "\u202f"),
        *("E5", "nan", "{", "}", '"amount":', "null", "[", "]", "|", ";", "\n", "²", "١", "½"),
        *("aberto", "sim", "milan", "0-306-40615-2", "a@b.c", "−"),
    ]
)
raws = st.one_of(
    st.text(max_size=30),
    st.lists(words, max_size=7).map("".join),
    st.lists(words, max_size=7).map(" ".join),
)
attributes = st.builds(
    attribute,
    st.sampled_from(TYPES),
    locale=st.sampled_from(LOCALES),
    currency=st.sampled_from(("", "BRL")),
    zone=st.sampled_from(("UTC", "America/Sao_Paulo", "Asia/Kolkata")),
    case=st.sampled_from(("fold", "keep")),
)


@settings(max_examples=600, deadline=None)
@given(attributes, raws)
@example(attribute("number", locale="pt_BR"), "1.234E0")
@example(attribute("money", currency="BRL"), "1.234,5 6")
@example(attribute("date"), "14 3rd 2026")
@example(attribute("date"), "sex 11 2026")
def test_what_is_read_is_read_the_same_again(declared: Attribute, raw: str) -> None:
    """RF-15, RF-16: a value, written again in any way of ours, is that value under any locale."""
    reads = normaliser(declared)
    try:
        value = reads.read(raw)
    except Refused as error:
        assert error.code in ("not_a_value", "ambiguous_value", "malformed_value")  # noqa: PT017
        assert len(raw) < 9 or raw not in str(error)  # noqa: PT017 - a short one may be a word
        return

    assert reads.read(raw) == value
    assert reads.read(raw_of(value)) == value
    assert reads.read(raw_of(plain(value))) == value
    assert within(value, value, declared)
    assert finer(value, value, declared, POLICY) == value
    assert shown(value, "en")
    assert shown(value, "pt-BR")


STABLE = ("text", "place", "enum", "boolean", "time", "isbn", "cnpj", "email")


@settings(deadline=None)
@given(st.sampled_from(STABLE), raws)
@example("text", "ΐ\u0345 İ")
@example("isbn", "0-306-40615-2")
def test_a_canonical_text_is_its_own(kind: str, raw: str) -> None:
    """RF-16: reading the canonical form again changes nothing."""
    try:
        value = read(raw, kind)
    except Refused:
        return

    assert read(value.text, kind) == value


@given(st.lists(st.text(st.sampled_from("aÁá ñn̄ſsß\u200b\t"), max_size=4), min_size=3, max_size=3))
def test_sameness_of_texts_is_an_equivalence(texts: list[str]) -> None:
    """RF-16: reflexive, symmetric and transitive, with nothing that could break it but refusal."""
    pairs = {(a, b): same("string", a, b) for a, b in itertools.product(texts, repeat=2)}

    assert all(pairs[a, a] for a in texts)
    assert all(pairs[a, b] == pairs[b, a] for a, b in pairs)
    for a, b, c in itertools.permutations(texts):
        assert not (pairs[a, b] and pairs[b, c]) or pairs[a, c]


numbers = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-2000, max_value=2000),
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-9, max_value=10**60),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(numbers, st.sampled_from(LOCALES))
def test_a_number_is_the_same_whoever_writes_it(number: Decimal, locale: str) -> None:
    """RF-16: as Python's number, as a text of the locale, with zeros behind: one value."""
    from babel.numbers import format_decimal

    value = read(number, "number", locale=locale)

    assert plain(value) == number
    assert read(f"{number:f}0E0", "number", locale=locale) == value
    assert read(f"{number:E}", "number", locale=locale) == value
    if locale:
        with localcontext(Context(prec=90)):
            text = format_decimal(number, locale=locale, decimal_quantization=False)
        assert read(text, "number", locale=locale) == value


@pytest.mark.parametrize(
    ("raw", "locale", "number"),
    [
        ("1", "", "1"),
        ("-0", "", "0"),
        ("-0.00", "", "0"),
        ("0", "", "0"),
        ("007", "", "7"),
        ("1.10", "", "1.1"),
        ("1.1", "", "1.1"),
        ("1E2", "", "100"),
        ("1.5e-3", "", "0.0015"),
        (".5", "", "0.5"),
        ("1,5", "", "1.5"),
        ("0.123", "", "0.123"),
        ("1234.567", "", "1234.567"),
        ("1,234.56", "", "1234.56"),
        ("1.234,56", "", "1234.56"),
        ("1,234,567", "", "1234567"),
        ("1 234", "", "1234"),
        ("1’234.5", "", "1234.5"),
        ("−3", "", "-3"),
        (" 3 ", "", "3"),
        ("1.234", "pt_BR", "1234"),
        ("1.234", "en_US", "1.234"),
        ("1.234,5", "pt_BR", "1234.5"),
        ("1234,5", "pt_BR", "1234.5"),
        ("1.5E0", "pt_BR", "1.5"),
        ("1 234,5", "fr_FR", "1234.5"),
        ("1\xa0234,5", "fr_FR", "1234.5"),
        ("1'234.5", "de_CH", "1234.5"),
        ("12,34,567.5", "en_IN", "1234567.5"),
        (7, "pt_BR", "7"),
        (1.234, "pt_BR", "1.234"),
        (0.1, "", "0.1"),
        (Decimal("12345678901234567890.123456789012345678"), "", None),
    ],
)
def test_numbers_have_one_form(raw: object, locale: str, number: str | None) -> None:
    """RF-16: decimals, never floats; minus zero is zero and zeros behind say nothing."""
    assert read(raw, "number", locale=locale) == Value("number", number or str(raw))


@pytest.mark.parametrize(
    ("raw", "kind", "more"),
    [
        ("1.234", "number", {}),
        ("12,345", "number", {}),
        ("-1,234", "number", {}),
        ("03/04/2026", "date", {}),
        ("3-4-2026 10:00", "date", {}),
        ("14/11/26", "date", {}),
        ("14 November 2026 12:30 EST", "date", {}),
        ("2026-11-01T01:30", "date", {"zone": "America/New_York"}),
        ("03/04/2026", "date", {"formats": ("%d/%m/%Y", "%m/%d/%Y")}),
        ("$ 10", "money", {}),
        ("¥ 10", "money", {"currency": "BRL"}),
        ("10", "money", {}),
        ("R$ 1.234", "money", {}),
        ('{"amount": "1.234", "currency": "BRL"}', "money", {}),
        ("shut", "enum", {"options": {"Open": ("shut",), "Closed": ("shut",)}}),
    ],
)
def test_what_reads_two_ways_is_not_guessed(raw: str, kind: str, more: dict[str, Any]) -> None:
    """RF-15: without a declared locale, zone, format or currency it is refused."""
    assert refused(raw, kind, **more).code == "ambiguous_value"


@pytest.mark.parametrize(
    ("raw", "kind", "more"),
    [
        ("Infinity", "number", {}),
        ("-inf", "number", {}),
        (float("inf"), "number", {}),
        ("1e9999", "number", {}),
        ("1" * 101, "number", {}),
        ("1_000", "number", {}),
        ("٣", "number", {}),
        ("½", "number", {}),
        ("10²", "number", {}),
        ("12 apples", "number", {}),
        ("12,34,567", "number", {}),
        ("1.5", "number", {"locale": "pt_BR"}),
        ("1,50", "number", {"locale": "en_US"}),
        ("BRL", "money", {}),
        ("BRL 10 or so", "money", {}),
        ("XQZ 10", "money", {}),
        ("BRL 10 - 20", "money", {}),
        ('{"currency": "BRL"}', "money", {}),
        ('{"amount": 1, "currency": "BRL", "color": "red"}', "money", {}),
        ('{"amount": 1, "currency": "BRL", "period": "fortnight"}', "money", {}),
        ("[1]", "money", {}),
        ("2026-02-30", "date", {}),
        ("2026-11-14T25:00", "date", {}),
        ("0000", "date", {}),
        ("soon", "date", {}),
        ("14 Nov", "date", {}),
        ("sex 11 2026", "date", {}),
        ("14 3rd 2026", "date", {}),
        ("Monday, 14 November 2026", "date", {}),
        ("12:30", "date", {}),
        ("November 2026 12:30", "date", {}),
        ("31/02/2026", "date", {"locale": "pt_BR"}),
        ("03/28/2026", "date", {"locale": "pt_BR"}),
        ("2026-03-08T02:30", "date", {"zone": "America/New_York"}),
        ("14 november 2026 " + "x" * 100, "date", {}),
        ("25:00", "time", {}),
        ("13:00 pm", "time", {}),
        ("7", "time", {}),
        ("maybe", "boolean", {}),
        ("shut", "enum", {}),
        ('["a|b"]', "names", {}),
        ("text", "record", {}),
        ('{"street": "x"}', "record", {}),
        ("0-306-40615-3", "isbn", {}),
        ("11.222.333/0001-80", "cnpj", {}),
        ("maria", "email", {}),
        (object(), "text", {}),
    ],
)
def test_what_is_none_of_its_type_is_refused(raw: object, kind: str, more: dict[str, Any]) -> None:
    """RF-16: NaN and infinities, days that never were, and what only looks like a number."""
    assert refused(raw, kind, **more).code == "malformed_value"


NOTHING = (
    *("N/A", "n/a", "not available", "Not  Available", "a definir", "A DEFINIR", "-", "--", "—"),
    *("", " ", "\t\n", "...", "…", "?", "(n/a)", "[null]", "TBD", "unknown", "none", "NaN", "null"),
    *("não informado", "na\u0303o informado", "Não se aplica", "desconhecido", "sem informação"),
)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("raw", NOTHING)
def test_a_placeholder_is_no_value(raw: str, kind: str) -> None:
    """RF-10: in English and in Portuguese, of any type; there are kinds to say so instead."""
    options = {"options": {"Open": ()}} if kind == "enum" else {}

    error = refused(raw, kind, **options)

    assert error.code == "not_a_value"
    assert all(kind in error.fix for kind in ("unknown", "ended", "deny"))


def test_a_declared_option_may_read_like_a_placeholder() -> None:
    """RF-10: where the policy says that it is a value, it is one."""
    assert read("n/a", "enum") == Value("enum", "N/A")


@pytest.mark.parametrize("raw", ["c++", "+", "😀", "0", "No. 1", "Nada", "nonesuch", "-1", "A-"])
def test_what_says_something_is_a_value(raw: str) -> None:
    assert read(raw).text == raw.casefold()


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("  São   Paulo\n", "são paulo"),
        ("SA\u0303O PAULO", "são paulo"),
        ("sã\u200bo\u00ad pau\ufefflo", "são paulo"),
        ("Straße", "strasse"),
        ("\u2066são paulo\u2069", "são paulo"),
    ],
)
def test_texts_differ_in_neither_case_nor_spaces(raw: str, text: str) -> None:
    assert read(raw) == Value("text", text)
    assert read(raw, case="keep").text.casefold() == text


def test_upper_and_lower_case_differ_where_the_policy_says_so() -> None:
    assert read("AbC ", case="keep") == Value("text", "AbC")
    assert read("AbC", case="keep") != read("abc", case="keep")


@pytest.mark.parametrize(
    "raw", ["a\0b", "a\x1bb", "a\x85b", "a\u202eb", "\ud800", "a\U000e0041b", "\x7f"]
)
@pytest.mark.parametrize("kind", TYPES)
def test_what_nobody_can_see_is_refused(raw: str, kind: str) -> None:
    """RF-81: controls, signs that turn text around, letters that only machines read."""
    assert refused(raw, kind).code in ("malformed_value", "not_a_value")
    assert refused(f"2026{raw}", kind).code == "malformed_value"


@pytest.mark.parametrize(
    ("raw", "money"),
    [
        ("R$ 1.234,56", "BRL 1234.56"),
        ("BRL 1,234.56", "BRL 1234.56"),
        ("1234.56 brl", "BRL 1234.56"),
        ("1.234,56 reais", "BRL 1234.56"),
        ("-R$ 10,00", "BRL -10"),
        ("R$ -10", "BRL -10"),
        ("US$1,234.50", "USD 1234.5"),
        ("€ 5", "EUR 5"),
        ("$ 10", "USD 10"),
        ("10", "USD 10"),
        ("10/month", "USD 10 per month"),
        ("R$ 10 por mês", "BRL 10 per month"),
        ("BRL 10 /mês + impostos", "BRL 10 per month net"),
        ("EUR 10 per year, excl. VAT", "EUR 10 per year net"),
        ("€ 10 (incl. VAT)", "EUR 10 gross"),
        ('{"amount": 1.234, "currency": "brl"}', "BRL 1.234"),
        ('{"amount": "1,5", "period": "mensal", "tax": null}', "USD 1.5 per month"),
        (Money(Decimal("1.234"), "BRL", "year", "net"), "BRL 1.234 per year net"),
        ({"amount": 0.1, "currency": "EUR"}, "EUR 0.1"),
    ],
)
def test_money_has_one_form(raw: object, money: str) -> None:
    """RF-82: however it is written."""
    assert read(raw, "money", currency="USD") == Value("money", money)


@pytest.mark.parametrize(
    "other", ["USD 10 per month net", "BRL 10 per year net", "BRL 10 per month", "BRL 10 net"]
)
def test_amount_currency_period_and_tax_are_one_value(other: str) -> None:
    """RF-82: in another currency, period or tax basis it is another value; none is converted."""
    ours, value = read("BRL 10 per month net", "money"), read(other, "money")
    declared = attribute("money", tolerance="50%")

    assert value != ours
    assert finer(value, ours, declared, POLICY) is None
    assert not within(value, ours, declared)


@pytest.mark.parametrize(
    ("raw", "text", "more"),
    [
        ("2026", "2026", {}),
        ("2026-11", "2026-11", {}),
        ("11/2026", "2026-11", {}),
        ("November 2026", "2026-11", {}),
        ("nov/2026", "2026-11", {}),
        ("2026-11-14", "2026-11-14", {}),
        ("2026/11/14", "2026-11-14", {}),
        ("2026/03/04", "2026-03-04", {}),
        ("14/11/2026", "2026-11-14", {}),
        ("11/14/2026", "2026-11-14", {}),
        ("05/05/2026", "2026-05-05", {}),
        ("Nov 14th, 2026", "2026-11-14", {}),
        ("14 de novembro de 2026", "2026-11-14", {}),
        ("Sábado, 14 de Novembro de 2026", "2026-11-14", {}),
        ("1º de março de 2026", "2026-03-01", {}),
        ("14 novembre 2026", "2026-11-14", {"locale": "fr_FR"}),
        ("03/04/2026", "2026-04-03", {"locale": "pt_BR"}),
        ("03/04/2026", "2026-03-04", {"locale": "en_US"}),
        ("14/11/26", "2026-11-14", {"formats": ("%d/%m/%y",)}),
        ("20261114", "2026-11-14", {"formats": ("%Y%m%d",)}),
        ("2026-11-14T12:30-03:00", "2026-11-14T15:30Z", {}),
        ("2026-11-14 15:30Z", "2026-11-14T15:30Z", {}),
        ("2026-11-14T21:00+05:30", "2026-11-14T15:30Z", {}),
        ("2026-11-14T12:30", "2026-11-14T15:30Z", {"zone": "America/Sao_Paulo"}),
        ("14/11/2026 12h30", "2026-11-14T15:30Z", {"zone": "America/Sao_Paulo"}),
        ("14 November 2026 3:30 pm UTC", "2026-11-14T15:30Z", {}),
        ("2026-11-14T15:30:00.0Z", "2026-11-14T15:30:00Z", {}),
        ("2026-11-14T15:30:15.25Z", "2026-11-14T15:30:15.250000Z", {}),
        (date(2026, 11, 14), "2026-11-14", {"zone": "America/Sao_Paulo"}),
        (datetime(2026, 11, 14, 15, 30, tzinfo=UTC), "2026-11-14T15:30:00Z", {}),
    ],
)
def test_dates_keep_their_precision(raw: object, text: str, more: dict[str, Any]) -> None:
    """RF-84: and instants are one across zones."""
    assert read(raw, "date", **more) == Value("date", text)


@pytest.mark.parametrize(
    ("coarse", "fine", "zone"),
    [
        ("2026", "2026-11", "UTC"),
        ("2026-11", "2026-11-14", "UTC"),
        ("2026", "2026-11-14T15:30:15.250000Z", "UTC"),
        ("2026-11-14", "2026-11-14T15:30Z", "UTC"),
        ("2026-11-14T15:30Z", "2026-11-14T15:30:15Z", "UTC"),
        ("2026-11-14", "2026-11-15T01:30Z", "America/Sao_Paulo"),
        ("2026-10", "2026-11-01T01:30Z", "America/Sao_Paulo"),
    ],
)
def test_the_finer_of_two_dates_represents_both(coarse: str, fine: str, zone: str) -> None:
    """RF-84: a month, and a day in it, are compatible; a day is one of the declared zone."""
    one, other = read(coarse, "date"), read(fine, "date")
    declared = attribute("date", zone=zone)

    assert finer(one, other, declared, POLICY) == other
    assert finer(other, one, declared, POLICY) == other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-11", "2026-12-01"),
        ("2026-11-14", "2026-11-15"),
        ("2026-11-14", "2026-11-15T01:30Z"),
        ("2026-11-14T15:30Z", "2026-11-14T15:31:00Z"),
        ("2026-1", "2026-11"),
    ],
)
def test_dates_apart_are_in_conflict(one: str, other: str) -> None:
    """RF-84: precision is no tolerance."""
    a, b = Value("date", one), Value("date", other)

    assert finer(a, b, attribute("date"), POLICY) is None
    assert finer(b, a, attribute("date"), POLICY) is None


def test_a_place_within_another_represents_both() -> None:
    """RF-85: the most specific of a chain does, and siblings are in conflict."""
    declared = attribute("place", hierarchy="places")
    brera, milan, pavia, italy = (
        read(one, "place") for one in ("Brera", "MILAN", "Pavia ", "Italy")
    )

    assert finer(milan, italy, declared, POLICY) == milan
    assert finer(italy, milan, declared, POLICY) == milan
    assert finer(italy, brera, declared, POLICY) == brera
    assert finer(milan, pavia, declared, POLICY) is None
    assert finer(brera, pavia, declared, POLICY) is None
    assert finer(milan, italy, attribute("place"), POLICY) is None
    assert finer(milan, italy, declared, Policy()) is None


trees = st.lists(st.integers(0, 7), min_size=8, max_size=8).map(
    lambda above: {f"p{n}": f"p{above[n] % n}" for n in range(1, 8)}
)
nodes = st.integers(0, 7).map(lambda n: Value("place", f"p{n}"))
moments = st.sampled_from(
    [
        *("2026", "2025", "2026-11", "2026-10", "2026-11-14", "2026-11-15", "2026-11-14T15:30Z"),
        *("2026-11-14T23:59Z", "2026-11-15T00:00Z", "2026-11-15T02:59Z", "2026-11-15T03:00:00Z"),
        *("2026-11-14T15:30:00Z", "2026-11-14T15:30:00.000001Z"),
    ]
).map(lambda text: Value("date", text))


@given(
    st.one_of(
        st.tuples(st.just(attribute("place", hierarchy="t")), trees, nodes, nodes, nodes),
        st.tuples(
            st.sampled_from([attribute("date"), attribute("date", zone="America/Sao_Paulo")]),
            st.just(dict[str, str]()),
            *(moments, moments, moments),
        ),
    )
)
def test_finer_is_an_order(
    drawn: tuple[Attribute, Mapping[str, str], Value, Value, Value],
) -> None:
    """RF-84, RF-85: symmetric in what it compares, transitive, and of a chain the end, any way."""
    declared, tree, a, b, c = drawn
    policy = Policy(hierarchies={"t": tree})

    def below(one: Value, other: Value) -> bool:
        return finer(one, other, declared, policy) == one

    assert finer(a, b, declared, policy) == finer(b, a, declared, policy)
    assert not (below(a, b) and below(b, a)) or a == b
    assert not (below(a, b) and below(b, c)) or below(a, c)
    if below(a, b) and below(b, c):
        first = finer(b, c, declared, policy)
        assert first is not None
        assert finer(a, first, declared, policy) == a


@pytest.mark.parametrize(
    ("kind", "tolerance", "one", "other", "near"),
    [
        ("number", "10", "100", "110", True),
        ("number", "10", "100", "110.01", False),
        ("number", "10%", "100", "90", True),
        ("number", "10%", "100", "111", True),
        ("number", "10%", "100", "112", False),
        ("number", "0.5 %", "-200", "-199", True),
        ("number", "0", "1", "1.00", True),
        ("money", "1", "BRL 10", "R$ 11,00", True),
        ("money", "1", "BRL 10", "USD 10", False),
        ("date", "10m", "2026-11-14T12:30Z", "2026-11-14T12:40:00Z", True),
        ("date", "10m", "2026-11-14T12:30Z", "2026-11-14T12:41Z", False),
        ("date", "1d", "2026-11-14", "2026-11-15", True),
        ("date", "1d", "2026-11-14", "2026-11-14T10:00Z", False),
        ("date", "52w", "2026", "2026-11", False),
        ("time", "10m", "7:55 p.m.", "20:05", True),
        ("time", "10m", "7:55 p.m.", "20:06", False),
        ("time", "10m", "23:58", "00:05", True),
        ("text", "10", "a", "b", False),
    ],
)
def test_a_tolerance_is_told_of_two(
    kind: str,
    tolerance: str,
    one: str,
    other: str,
    near: bool,  # noqa: FBT001 - expected
) -> None:
    """RF-83: for numbers an amount or a share of the larger, for times a length of time."""
    declared = attribute(kind, tolerance=tolerance)
    a, b = read(one, kind), read(other, kind)

    assert within(a, b, declared) is within(b, a, declared) is near
    assert a == b or not within(a, b, attribute(kind))


def test_a_tolerance_is_no_equality() -> None:
    """RF-83: 100 is near 108, 108 is near 116, and 100 is not near 116."""
    declared = attribute("number", tolerance="10")
    a, b, c = (read(one, "number") for one in ("100", "108", "116"))

    assert within(a, b, declared)
    assert within(b, c, declared)
    assert not within(a, c, declared)
    assert len({a, b, c}) == 3


def test_values_of_two_kinds_never_agree() -> None:
    """What says that there is none competes with values, and is never made one of them."""
    denied, ten = Value("kind", "deny"), read("10", "number")
    declared = attribute("number", tolerance="100%", hierarchy="places")

    assert finer(denied, ten, declared, POLICY) is None
    assert finer(denied, Value("kind", "ended"), declared, POLICY) is None
    assert finer(denied, denied, declared, POLICY) == denied
    assert finer(Value("deny", "milan"), Value("deny", "italy"), declared, POLICY) is None
    assert not within(denied, ten, declared)


def test_fields_of_a_record_are_read_together() -> None:
    """RF-05: they are one value, in whatever order they come, each read as its own type."""
    value = read('{"city": " MILAN", "area": "1.234,5", "built": null}', "record")

    assert value == read({"area": Decimal("1234.5"), "city": "Milan"}, "record")
    assert plain(value) == {"city": "milan", "area": Decimal("1234.5")}
    assert value != read({"city": "Milan"}, "record")
    assert refused('{"city": "n/a"}', "record").code == "not_a_value"
    assert refused('{"city": null}', "record").code == "not_a_value"
    assert refused('{"built": "03/04/2026"}', "record").code == "ambiguous_value"


def test_no_record_is_put_together_from_two() -> None:
    """RF-05: one represents both only if it is the finer in every field; none mixes them."""
    declared = attribute("record")
    one = read({"city": "Milan", "built": "2026-11"}, "record")
    finest = read({"city": "Brera", "built": "2026-11-14", "area": 3}, "record")
    crossed = read({"city": "Italy", "built": "2026-11-14"}, "record")

    assert finer(one, finest, declared, POLICY) == finest
    assert finer(finest, one, declared, POLICY) == finest
    assert finer(finest, crossed, declared, POLICY) == finest
    assert finer(one, crossed, declared, POLICY) is None


@pytest.mark.parametrize(
    ("raw", "kind", "text"),
    [
        ("Sim", "boolean", "true"),
        ("0", "boolean", "false"),
        (True, "boolean", "true"),
        ("LISTED", "enum", "Open"),
        ("7:55 p.m.", "time", "19:55"),
        ("19h55", "time", "19:55"),
        ("12:05 AM", "time", "00:05"),
        (time(19, 55), "time", "19:55"),
        ("Xiang; Plastock", "names", "plastock|xiang"),
        ("plastock|XIANG|xiang", "names", "plastock|xiang"),
        (["Xiang", "Plastock"], "names", "plastock|xiang"),
        ({"Xiang", "Plastock"}, "names", "plastock|xiang"),
        ("0-306-40615-2", "isbn", "9780306406157"),
        ("11.222.333/0001-81", "cnpj", "11222333000181"),
        ("A@B.Com", "email", "a@b.com"),
    ],
)
def test_other_types_have_one_form(raw: object, kind: str, text: str) -> None:
    assert read(raw, kind) == Value(kind, text)


def test_a_normaliser_is_named_by_all_that_changes_what_it_reads() -> None:
    """RF-15: a type, a version, and options; what only compares values is none of them."""

    def named(kind: str, **more: Any) -> str:
        return normaliser(attribute(kind, **more), POLICY).id

    assert named("number") == "number@1"
    assert named("number", tolerance="1%", freshness=3) == "number@1"
    assert named("place", hierarchy="places") == named("place")
    assert named("text", locale="pt_BR") == named("text")
    differing = [
        named("number", locale="pt_BR"),
        named("number", locale="en_US"),
        *(named("money", currency=one) for one in ("", "BRL", "USD")),
        *(named("date", zone=one) for one in ("UTC", "America/Sao_Paulo")),
        named("date", formats=("%d/%m/%y",)),
        named("text", case="keep"),
        named("enum"),
        named("enum", options={"Open": ()}),
        named("record"),
        named("record", fields={**FIELDS, "area": Attribute(name="area", type="number")}),
    ]
    assert len(set(differing)) == len(differing)


def test_values_are_shown_in_the_language_of_who_reads() -> None:
    """No sign parts thousands, so that what is shown is itself read in one way."""
    money = read("R$ 1.234,56 por mês, sem impostos", "money")
    instant = read("2026-11-14T12:30-03:00", "date")

    assert shown(money) == "BRL 1234.56 per month, before tax"
    assert shown(money, "pt-BR") == "BRL 1234,56 por mês, sem impostos"
    assert shown(instant) == shown(instant, "pt") == "2026-11-14 15:30 UTC"
    assert shown(read("yes", "boolean"), "pt") == "sim"
    assert shown(Value("kind", "deny")) == "there is none"
    assert shown(Value("kind", "deny"), "pt") == "não há"
    assert shown(Value("deny", "milan")) == "milan: no"
    assert shown(Value("ended", "milan"), "pt") == "milan: encerrado"
    assert shown(Value("unknown", "milan")) == "milan: unknown"
    assert shown(read({"city": "Milan", "area": "1,5"}, "record"), "pt") == "area: 1,5, city: milan"


def test_values_are_given_as_python_has_them() -> None:
    assert plain(read("R$ 10 por ano", "money")) == Money(Decimal(10), "BRL", "year")
    assert plain(read("2026-11", "date")) == "2026-11"
    assert plain(read("2026-11-14", "date")) == date(2026, 11, 14)
    assert plain(read("2026-11-14T12:30Z", "date")) == datetime(2026, 11, 14, 12, 30, tzinfo=UTC)
    assert plain(read("19:55", "time")) == time(19, 55)
    assert plain(read("no", "boolean")) is False
    assert plain(read("b|a", "names")) == ("a", "b")
    assert plain(Value("kind", "unknown")) is None
    assert plain(Value("deny", "milan")) is None


@pytest.mark.parametrize(
    ("kind", "one", "other", "equal"),
    [
        ("string", "Lisboa", " LISBOA", True),
        ("string", "Lisboa", "Porto", False),
        ("string", "n/a", "n/a", True),
        ("string", "1", 1, True),
        ("number", "1.10", 1.1, True),
        ("number", "1.234", 1234, False),
        ("number", "1.234", "1.234", True),
        ("integer", "1e2", 100, True),
        ("boolean", "sim", True, True),
        ("boolean", True, 1, True),
        ("object", {"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
        ("object", {"a": 1}, {"a": True}, False),
        ("array", [1, "a"], ["a", 1], False),
        ("array", [1], "[1]", False),
        ("null", None, None, True),
        ("", float("nan"), float("nan"), True),
        ("number", float("nan"), float("inf"), False),
        ("date", "14/11/2026", date(2026, 11, 14), True),
        ("money", "R$ 10", {"amount": 10, "currency": "BRL"}, True),
        ("whatever", "A", "a", True),
    ],
)
def test_two_values_are_told_the_same_by_a_type_alone(
    kind: str,
    one: object,
    other: object,
    equal: bool,  # noqa: FBT001 - expected
) -> None:
    """RF-16: as parameters of a tool have one, by JSON Schema's names."""
    assert same(kind, one, other) is same(kind, other, one) is equal


ENDLESS = (
    "1",
    "1,",
    "1.",
    "1 ",
    "a ",
    "de ",
    "/",
    "per ",
    "nov ",
    "(1",
    "[",
    '{"a":',
    "|a",
    "@x",
    "á",
)


@pytest.mark.parametrize("kind", TYPES)
def test_an_endless_text_is_read_or_refused_as_any_other(kind: str) -> None:
    """RF-81: no library's limit, and no regular expression, is met before ours."""
    for start, more in itertools.product(("", "1", "R$ 1 ", "14 nov 2026 ", "2026-"), ENDLESS):
        try:
            assert read(start + more * 5_000, kind, locale="pt_BR").form == kind
        except Refused as error:
            assert len(str(error)) < 300  # noqa: PT017 - or it is a value


def test_a_value_survives_json() -> None:
    value = read("R$ 1.234,56", "money")

    assert msgspec.json.decode(msgspec.json.encode(value), type=Value) == value


def test_libraries_for_values_are_loaded_when_they_are_needed() -> None:
    """Texts, numbers without a locale and days in ISO 8601 need none of them."""
    script = """
import sys
from pointsman.decision_points.facts.canonical import key_of
from pointsman.decision_points.facts.policy import Attribute
from pointsman.decision_points.facts.values import normaliser, same
key_of("n", "acme", "price")
for kind, raw in (("text", "São Paulo"), ("number", "1.5"), ("date", "2026-11-14")):
    normaliser(Attribute(name="x", type=kind)).read(raw)
assert same("number", "1.5", 1.5) and not same("string", "1.234", 1234) and same("", {}, {})
found = {"babel", "dateutil", "stdnum", "sqlalchemy"} & set(sys.modules)
assert not found, found
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)

    assert done.returncode == 0, done.stderr.decode()


def test_a_number_of_any_length_is_the_same_as_itself() -> None:
    endless = 10**5000  # too long to be written as text

    assert same("integer", endless, endless)
    assert not same("integer", endless, endless + 1)
