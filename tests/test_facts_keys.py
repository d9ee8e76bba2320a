"""Keys and times: one fact has one name, and a time is as precise as it was given."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pointsman.decision_points.facts.assertions import When
from pointsman.decision_points.facts.canonical import CANONICALISERS, LONGEST, key_of
from pointsman.decision_points.facts.errors import Refused
from pointsman.decision_points.facts.keys import FactKey, parts, seen, tidy
from pointsman.decision_points.facts.times import instant, now, when, written

SECOND = 1_000_000
DAY = 86_400 * SECOND
PLACE = "America/Sao_Paulo"

ENTITIES = {"book": "isbn", "company": "cnpj", "person": "email", "account": "iban", "sku": "exact"}

words = st.text(min_size=1, max_size=20).filter(lambda text: _named(text) is not None)
tables = st.dictionaries(words, words, max_size=4)


def _named(text: str) -> FactKey | None:
    try:
        return key_of("n", text, "price")
    except Refused:
        return None


def _key(entity: str, attribute: str, qualifiers: Mapping[str, str]) -> FactKey | None:
    try:
        return key_of("n", entity, attribute, qualifiers)
    except Refused:
        return None


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _nfd(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _refused(code: str, entity: str, attribute: str = "price", **given: str) -> Refused:
    with pytest.raises(Refused) as caught:
        key_of("n", entity, attribute, given, entities=ENTITIES)
    assert caught.value.code == code
    return caught.value


@pytest.mark.parametrize(
    ("entity", "attribute", "qualifiers"),
    [
        ("ACME", "Price", {"Contract": "C1", "region": "Sul"}),
        ("  acme ", "price", {"region": "SUL", "contract": "c1"}),
        ("acme", "\tPRICE\n", {"contract": " C1", "REGION": "sul"}),
        ("ac\u200bme", "price", {"contract": "c1", "region": "s\u00adul"}),
    ],
)
def test_names_of_one_fact_are_one_key(
    entity: str, attribute: str, qualifiers: Mapping[str, str]
) -> None:
    """RF-01: order, case, spaces and what nobody sees are no difference."""
    made = key_of("n", entity, attribute, qualifiers)

    assert made == FactKey("n", "acme", "price", (("contract", "c1"), ("region", "sul")))


@given(words, words, tables, st.randoms())
def test_a_key_is_the_same_however_its_names_are_composed_and_ordered(
    entity: str, attribute: str, qualifiers: dict[str, str], chance: random.Random
) -> None:
    """RF-01: permuted qualifiers, NFC and NFD, upper and lower case."""
    made = _key(entity, attribute, qualifiers)
    shuffled = list(qualifiers.items())
    chance.shuffle(shuffled)

    for composed in (_nfc, _nfd):
        other = {composed(name): composed(value) for name, value in shuffled}
        assert _key(composed(entity), composed(attribute), other) == made


@given(st.text(max_size=30))
@example("ΐ\u0345")
@example("İSTANBUL")
@example("STRASSE straße")
def test_a_tidy_name_is_tidy_and_has_no_case(text: str) -> None:
    folded = tidy(text)

    assert tidy(folded) == folded
    assert tidy(unicodedata.normalize("NFD", text)) == folded
    assert tidy(_nfd(text).casefold()) == folded
    assert seen(seen(text)) == seen(text)


@pytest.mark.parametrize(
    "other",
    [
        key_of("n", "acme", "price", {"contract": "c2"}),
        key_of("n", "acme", "price", {"period": "c1"}),
        key_of("n", "acme", "price"),
        key_of("n", "acme", "discount", {"contract": "c1"}),
        key_of("m", "acme", "price", {"contract": "c1"}),
        key_of("n", "acme ltda", "price", {"contract": "c1"}),
    ],
)
def test_another_qualifier_is_another_fact(other: FactKey) -> None:
    """RF-01: a contract, a period, a region tell facts apart."""
    assert key_of("n", "acme", "price", {"contract": "c1"}) != other


@given(words, words, tables)
@example("a/b?c=d&e%f", "x/y", {"a=b": "c&d"})
@example("são paulo", "preço", {"região": "東京"})
def test_a_written_key_is_read_back(
    entity: str, attribute: str, qualifiers: dict[str, str]
) -> None:
    """RF-01: `str(key)` names no other fact, whatever signs are in its names."""
    made = _key(entity, attribute, qualifiers)

    if made is not None:
        assert key_of("n", *parts(str(made))) == made


def test_a_written_key_keeps_the_letters_of_every_script() -> None:
    made = key_of("n", "São Paulo: açúcar|mel", "नमस्ते", {"a/b": "100%"})

    assert str(made) == "são paulo: açúcar|mel/नमस्ते?a%2Fb=100%25"


@pytest.mark.parametrize("text", ["", "acme", "/price", "acme/", "acme/price?contract", "a/b?=c"])
def test_what_is_no_key_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="write"):
        parts(text)


@pytest.mark.parametrize(
    ("entity", "entity_id"),
    [
        ("book:0-306-40615-2", "book:9780306406157"),
        ("BOOK: 978 0306406157", "book:9780306406157"),
        ("company:11.222.333/0001-81", "company:11222333000181"),
        ("company:12.abc.345/01de-35", "company:12ABC34501DE35"),
        ("person:Maria.Silva@Example.COM", "person:maria.silva@example.com"),
        ("account:gb82 west 1234 5698 7654 32", "account:GB82WEST12345698765432"),
        ("SKU: aB-1", "sku:aB-1"),
        ("plane:PT-ABC", "plane:pt-abc"),
    ],
)
def test_ids_of_a_type_are_written_as_their_kind_is(entity: str, entity_id: str) -> None:
    """RF-02: ISBN-10 and ISBN-13, punctuation of a CNPJ, case of an e-mail address."""
    assert key_of("n", entity, "price", entities=ENTITIES).entity == entity_id


@pytest.mark.parametrize("how", CANONICALISERS)
def test_an_id_in_its_one_form_stays_as_it_is(how: str) -> None:
    """RF-02: bringing it into that form again gives the same key, for every kind there is."""
    ids = {
        "text": "acme",
        "exact": "aB",
        "email": "A@b.c",
        "cnpj": "11.222.333/0001-81",
        "cpf": "529.982.247-25",
        "ean": "4006381333931",
        "iban": "GB82 WEST 1234 5698 7654 32",
        "imei": "35-209900-176148-1",
        "isbn": "0-306-40615-2",
        "isin": "US0378331005",
        "issn": "0378-5955",
        "lei": "213800KUD8LAJWSQ9D15",
        "vat": "DE 136,695 976",
    }
    once = key_of("n", f"x:{ids[how]}", "price", entities={"x": how})

    assert key_of("n", once.entity, "price", entities={"x": how}) == once


@pytest.mark.parametrize(
    ("entity", "attribute", "given"),
    [
        ("", "price", {}),
        ("  ", "price", {}),
        ("acme", "\u200b", {}),
        ("acme", "price", {"": "c1"}),
        ("acme", "price", {"contract": " "}),
        ("acme", "price", {"contract": "c1", " Contract": "c2"}),
        ("ac\u202eme", "price", {}),
        ("acme\0", "price", {}),
        ("acme\ud800", "price", {}),
        ("a\U000e0061", "price", {}),
        ("a" * (LONGEST + 1), "price", {}),
        ("book:0-306-40615-3", "price", {}),
        ("company:11.222.333/0001-80", "price", {}),
        ("person:maria", "price", {}),
        ("sku:", "price", {}),
    ],
)
def test_what_names_no_fact_is_refused(entity: str, attribute: str, given: dict[str, str]) -> None:
    """RF-81: no name has characters that a person cannot read; none is empty or endless."""
    refused = _refused("bad_key", entity, attribute, **given)

    assert "maria" not in str(refused)
    assert "0-306" not in str(refused)


def test_a_namespace_has_a_name() -> None:
    with pytest.raises(Refused, match="bad_key"):
        key_of("", "acme", "price")


@pytest.mark.parametrize(
    ("given", "zone", "span"),
    [
        ("2026-11-14", "UTC", (1_794_614_400, 86_400)),
        (date(2026, 11, 14), "UTC", (1_794_614_400, 86_400)),
        ("2026-11-14", PLACE, (1_794_625_200, 86_400)),
        ("2026-11", "UTC", (1_793_491_200, 30 * 86_400)),
        ("2026-12", "UTC", (1_796_083_200, 31 * 86_400)),
        ("2024-02", "UTC", (1_706_745_600, 29 * 86_400)),
        ("2026", "UTC", (1_767_225_600, 365 * 86_400)),
        ("2026-11-14T12:30", "UTC", (1_794_659_400, 0)),
        ("2026-11-14 12:30:00Z", PLACE, (1_794_659_400, 0)),
        ("2026-11-14T09:30:00-03:00", "UTC", (1_794_659_400, 0)),
        ("2026-11-14T09:30", PLACE, (1_794_659_400, 0)),
        (datetime(2026, 11, 14, 12, 30, tzinfo=UTC), PLACE, (1_794_659_400, 0)),
        (datetime(2026, 11, 14, 9, 30), PLACE, (1_794_659_400, 0)),  # noqa: DTZ001 - it has none
        (1_794_659_400.0, "UTC", (1_794_659_400, 0)),
        (1_794_659_400_000_000, "UTC", (1_794_659_400, 0)),
        ("2017-10-15", PLACE, (1_508_036_400, 82_800)),  # clocks went forward at midnight
    ],
)
def test_a_time_is_as_precise_as_it_is_given(
    given: str | float | date, zone: str, span: tuple[int, int]
) -> None:
    """RF-44: a day, a month or a year is an interval, of the zone that it is meant in."""
    start, length = span

    assert when(given, zone) == When(start * SECOND, (start + length) * SECOND)
    assert instant(given, zone) == start * SECOND


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),  # noqa: DTZ001
    st.integers(-14 * 60, 14 * 60),
)
def test_an_instant_is_one_across_zones(clock: datetime, minutes: int) -> None:
    """RF-84: the same instant, written with another offset, is the same time."""
    there = clock.replace(tzinfo=UTC).astimezone(timezone(timedelta(minutes=minutes)))

    assert when(there) == when(clock)
    assert when(there.isoformat()) == when(clock)
    assert when(written(when(clock))) == when(clock)
    assert when(written(when(clock), PLACE), PLACE) == when(clock)


@pytest.mark.parametrize("text", ["2026", "2026-02", "2026-11-14", "9999-12-31", "0001-01-01"])
@pytest.mark.parametrize("zone", ["UTC", PLACE, "Asia/Tokyo", "Europe/Lisbon"])
def test_a_day_is_written_as_a_day(text: str, zone: str) -> None:
    if (text, zone) != ("0001-01-01", "Asia/Tokyo"):  # starts before calendars do, in UTC
        assert written(when(text, zone), zone) == text


def test_a_span_that_is_no_day_is_written_from_to() -> None:
    assert written(When(0, 2 * DAY)) == "1970-01-01T00:00:00Z/1970-01-03T00:00:00Z"
    assert written(1_500_000) == "1970-01-01T00:00:01.500000Z"
    assert written(0, PLACE) == "1969-12-31T21:00:00-03:00"


@pytest.mark.parametrize(
    ("given", "zone"),
    [
        ("yesterday", "UTC"),
        ("", "UTC"),
        ("14/11/2026", "UTC"),
        ("2026-13", "UTC"),
        ("2026-02-30", "UTC"),
        ("2026-11-14T25:00", "UTC"),
        ("2026-11-14T12:30+25:00", "UTC"),
        ("٢٠٢٦-١١-١٤", "UTC"),
        ("2026-11-01T01:30", "America/New_York"),  # twice
        ("2026-03-08T02:30", "America/New_York"),  # never
        ("2026-11-14", "Mars/Olympus"),
        (float("nan"), "UTC"),
        (float("inf"), "UTC"),
        (True, "UTC"),
        (1_794_659_400, "UTC"),  # whole seconds, where microseconds are meant
        (1_794_659_400_000, "UTC"),  # milliseconds
        (10**11, "UTC"),  # the first and the last
        (10**14 - 1, "UTC"),
    ],
)
def test_what_is_no_time_or_two_is_refused(given: str | float, zone: str) -> None:
    """RF-15: nothing is guessed of a time either."""
    with pytest.raises(Refused) as caught:
        when(given, zone)

    assert caught.value.code == "bad_time"


@pytest.mark.parametrize(
    ("given", "unit"),
    [
        (1_794_659_400, "like seconds"),
        (1_794_659_400_000, "like milliseconds"),
    ],
)
def test_a_whole_number_of_another_unit_is_told(given: int, unit: str) -> None:
    """RF-15: it is not read as January 1970."""
    with pytest.raises(Refused, match=unit) as caught:
        when(given)

    assert "microseconds" in caught.value.fix
    assert (
        when(given * (1_000_000 if unit == "like seconds" else 1_000)).start
        == 1_794_659_400_000_000
    )


def test_now_is_in_microseconds() -> None:
    before = datetime.now(UTC) - timedelta(milliseconds=1)

    assert instant(before) <= now() < instant(before + timedelta(minutes=5))
