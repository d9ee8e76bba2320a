"""Policies: what is declared about attributes, what no order could rest on, and faults of files."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facts_strategies import EVIDENCE, KEYS, SEQUENCES, attribute_of, attribute_tables, policies
from pointsman.decision_points.facts.files.durations import LONGEST, duration, spelt
from pointsman.decision_points.facts.policy import Policy, policy_of, read_policy
from pointsman.gateway.errors import SetupError

DAY = 86_400_000_000  # microseconds

EXAMPLE = """
schema = 1
keys = ["authority", "confidence"]
locale = "pt_BR"            # for all that do not say otherwise
zone = "America/Sao_Paulo"

[entities]
Book = "isbn"

[attributes.Price]
type = "money"
currency = "BRL"
change = "over_time"
freshness = "30d"
keys = ["evidence", "authority", "recency"]
evidence = ["human", "explicit", ["inferred", "derived"], "absence"]

[attributes.discount]
type = "number"
tolerance = 0.5
edges = [0.5]
basis = "confirmed"
dissent = "guard"
corroboration = { lead = 2 }

[attributes.city]
type = "place"
hierarchy = "Places"
locale = "en_US"

[attributes.status]
type = "enum"
options = ["open", "closed"]

[attributes.tags]
cardinality = "many"

[attributes.address]
type = "record"
fields = { street = {}, opened = { type = "date", zone = "UTC" } }

[hierarchies.places]
Milan = "Lombardy"
Lombardy = "Italy"

[disputes]
lease = "45m"
escalate = ["1d", "3d"]
reads = 2
tokens = 1000
cost_usd = 0.25

[limits]
per_key = 9
"""


def _file(folder: Path, text: str) -> Path:
    path = folder / "policy.toml"
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def example(tmp_path: Path) -> Policy:
    return read_policy(_file(tmp_path, EXAMPLE))


def _faults(given: Any) -> dict[str, str]:
    """Place → problem and fix, of what does not load."""
    with pytest.raises(SetupError) as caught:
        policy_of(given)
    return {one.where: f"{one.problem}. {one.fix}" for one in caught.value.faults}


def _told(**declared: Any) -> str:
    """All that is wrong with one attribute."""
    faults = _faults({"attributes": {"price": declared}})
    return " ".join(f"{place.rpartition('.')[2]}: {told}" for place, told in faults.items())


def _loads(**declared: Any) -> bool:
    try:
        policy_of({"attributes": {"price": declared}})
    except SetupError:
        return False
    return True


def test_an_attribute_is_declared_with_what_decides(example: Policy) -> None:
    """RF-03: type, cardinality, change, equality, keys, basis, freshness."""
    price = example.attribute("price")
    assert price is not None
    assert (price.name, price.type, price.currency, price.change) == (
        "price",
        "money",
        "BRL",
        "over_time",
    )
    assert price.keys == ("evidence", "authority", "recency")
    assert price.evidence == (("human",), ("explicit",), ("inferred", "derived"), ("absence",))
    discount = example.attribute("discount")
    assert discount is not None
    assert (discount.tolerance, discount.edges, discount.basis) == ("0.5", (0.5,), "confirmed")
    assert discount.cardinality == "one"
    tags = example.attribute("tags")
    assert tags is not None
    assert tags.cardinality == "many"


def test_what_is_not_declared_is_known_not_to_be(example: Policy) -> None:
    """RF-03: nothing is made up for it; a policy of nothing declares nothing."""
    assert example.attribute("colour") is None
    assert policy_of(None).attribute("price") is None


def test_a_policy_says_once_what_holds_for_all(example: Policy) -> None:
    discount, city = example.attribute("discount"), example.attribute("city")
    assert discount is not None
    assert city is not None
    assert discount.keys == ("authority", "confidence")
    assert (discount.locale, city.locale, city.zone) == ("pt_BR", "en_US", "America/Sao_Paulo")


def test_names_of_attributes_are_those_of_keys(example: Policy) -> None:
    """RF-01: case, spaces and how letters are composed do not count."""
    assert example.attribute(" PRICE ") == example.attributes["price"]
    assert _faults({"attributes": {"price": {}, "Price": {}}})["policy: attributes.Price"]


def test_fields_of_a_record_are_written_like_it(example: Policy) -> None:
    """RF-05: they are decided together, so that none has keys of its own."""
    address = example.attribute("address")
    assert address is not None
    assert address.fields["opened"].zone == "UTC"
    assert address.fields["opened"].type == "date"
    assert address.fields["street"].locale == "pt_BR"
    assert "RF-05" in _told(type="record", fields={"street": {"keys": ["authority"]}})


def test_freshness_is_a_length_of_time(example: Policy) -> None:
    """RF-62: in microseconds."""
    assert example.attributes["price"].freshness == 30 * DAY
    assert example.attributes["discount"].freshness is None
    assert "in quotes" in _told(freshness=30)
    assert "stale at once" in _told(freshness="0s")


def test_a_dispute_has_a_lease_ages_and_a_budget(example: Policy) -> None:
    """RF-58, RF-59: in seconds, reads, tokens and US dollars."""
    rules = example.disputes
    assert rules.lease_seconds == 2700
    assert rules.escalate_seconds == (86_400, 259_200)
    assert (rules.reads, rules.tokens, rules.cost_usd) == (2, 1000, 0.25)
    wrong = {
        "lease": "0s",
        "escalate": ["3d", "1d"],
        "reads": -1,
        "tokens": 0.5,
        "cost_usd": "a lot",
    }
    assert {place.rpartition(".")[2] for place in _faults({"disputes": wrong})} == set(wrong)


def test_limits_are_said_or_have_a_default(example: Policy) -> None:
    """RF-80: whole numbers from 1; there is none that is no limit."""
    assert example.limits.per_key == 9
    assert example.limits.per_source_per_key == policy_of(None).limits.per_source_per_key
    assert "limits.per_key" in next(iter(_faults({"limits": {"per_key": 0}})))


def test_a_fact_is_bounded_where_a_write_folds_all_that_was_said() -> None:
    """RF-80: what nobody raised, and what every source may say without crowding out others."""
    limits = policy_of(None).limits
    assert (limits.per_source_per_key, limits.per_key) == (2_000, 10_000)


def test_guards_and_voices_are_opted_into(example: Policy) -> None:
    """RF-33: by default dissent is shown, and voices decide nothing."""
    price, discount = example.attributes["price"], example.attributes["discount"]
    assert (price.dissent, price.corroboration) == ("show", None)
    assert discount.dissent == "guard"
    assert discount.corroboration is not None
    assert (discount.corroboration.lead, discount.corroboration.share) == (2, None)
    for wrong in ({}, {"lead": 0}, {"share": 0.5}, {"share": 1.1}, {"lead": 2, "shar": 0.9}):
        assert not _loads(corroboration=wrong)
    assert _loads(corroboration={"lead": 1, "share": 1})


@pytest.mark.parametrize("keys", SEQUENCES)
def test_every_sequence_with_recency_last_loads(keys: tuple[str, ...]) -> None:
    """RF-24: the sequence is the policy's."""
    declared = policy_of({"attributes": {"price": {"keys": list(keys), "change": "over_time"}}})

    assert declared.attributes["price"].keys == keys


@given(st.lists(st.sampled_from(KEYS)).filter(lambda keys: tuple(keys) not in SEQUENCES))
def test_no_other_sequence_loads_and_the_one_meant_is_told(keys: list[str]) -> None:
    """RF-24, RF-29: recency with a skew before the last key is not transitive."""
    told = _told(keys=keys)

    meant = json.loads(told[told.index("[") : told.rindex("]") + 1])
    assert set(meant) == set(keys)
    assert _loads(keys=meant) or len(keys) > len(meant)


def test_an_unknown_key_is_refused_with_the_nearest() -> None:
    """RF-24: there are four."""
    assert "authority" in _told(keys=["autority"])
    assert "recency" in _told(keys=["authority", "recent"])


@pytest.mark.parametrize(
    ("keys", "change", "loads"),
    [
        (["authority", "confidence"], "never", True),
        (["authority", "confidence", "recency"], "never", True),  # recency is skipped there
        (["authority", "confidence", "recency"], "over_time", False),
        (["confidence", "authority"], "never", False),
        (["authority"], "never", False),
        (["authority", "confidence"], "over_time", False),  # succession is asked after all keys
    ],
)
def test_a_margin_needs_confidence_to_be_the_last_word(
    keys: list[str], change: str, *, loads: bool
) -> None:
    """RF-24, RF-27: two within a margin are equal, and that is not transitive in between."""
    assert _loads(keys=keys, change=change, margin=0.2) is loads
    if not loads:
        assert "margin" in _told(keys=keys, change=change, margin=0.2)


@pytest.mark.parametrize(
    ("setting", "declared"),
    [
        ("tolerance", {"type": "number", "tolerance": "1"}),
        ("hierarchy", {"type": "place", "hierarchy": "h"}),
        (
            "fields.city.hierarchy",
            {"type": "record", "fields": {"city": {"type": "place", "hierarchy": "h"}}},
        ),
    ],
)
def test_a_set_has_no_setting_that_it_would_ignore(setting: str, declared: Any) -> None:
    """RF-04, RF-83, RF-85: a member is in the set or not; no other one represents it."""
    tables = {"hierarchies": {"h": {"milan": "italy"}}}
    assert "p" in policy_of({**tables, "attributes": {"p": declared}}).attributes

    faults = _faults({**tables, "attributes": {"p": {**declared, "cardinality": "many"}}})

    assert list(faults) == [f"policy: attributes.p.{setting}"]
    assert 'cardinality = "one"' in faults[f"policy: attributes.p.{setting}"]


def test_a_set_may_count_voices() -> None:
    """RF-04, RF-33: for each member, who says that it is one and who denies it."""
    assert _loads(cardinality="many", corroboration={"lead": 2}, dissent="guard")


def test_bands_of_confidence_ascend_between_0_and_1() -> None:
    """RF-27: none, and confidence is one band."""
    assert policy_of({"attributes": {"p": {}}}).attributes["p"].edges == (0.6, 0.85)
    assert _loads(edges=[])
    for wrong in ([0.8, 0.6], [0.5, 0.5], [0, 0.5], [0.5, 1], [1.5]):
        assert "edges" in _told(edges=wrong)
    for margin in (0, 1, -0.1):
        assert "margin" in _told(keys=["confidence"], margin=margin)


@given(
    st.permutations(EVIDENCE).flatmap(
        lambda kinds: st.lists(st.booleans(), min_size=4, max_size=4).map(
            lambda cuts: (kinds, cuts)
        )
    )
)
def test_silence_never_weighs_as_much_as_a_statement(drawn: tuple[list[str], list[bool]]) -> None:
    """RF-11: whatever the tiers, absence is below explicit."""
    kinds, cuts = drawn
    tiers: list[list[str]] = [[kinds[0]]]
    for kind, cut in zip(kinds[1:], cuts, strict=True):
        if cut:
            tiers.append([kind])
        else:
            tiers[-1].append(kind)
    place = {kind: number for number, tier in enumerate(tiers) for kind in tier}

    assert _loads(evidence=tiers) is (place["explicit"] < place["absence"])


def test_evidence_places_every_kind_once() -> None:
    """RF-11: one that is left out would rank nowhere."""
    assert "does not place absence, human" in _told(evidence=["explicit", ["inferred", "derived"]])
    assert "twice" in _told(
        evidence=["human", "explicit", "inferred", "derived", "absence", "human"]
    )
    assert "evidence" in _told(evidence=["explicit", "hearsay"])


def test_a_hierarchy_is_of_one_parent_and_does_not_go_round(example: Policy) -> None:
    """RF-85: names without case; the circle is named."""
    assert example.hierarchies["places"] == {"milan": "lombardy", "lombardy": "italy"}
    assert example.attributes["city"].hierarchy == "places"

    told = _faults({"hierarchies": {"h": {"a": "B", "b": "c", "C": "a"}}})["policy: hierarchies.h"]
    steps = told.partition(": ")[2].partition(".")[0].split(" < ")
    assert sorted(steps[1:]) == ["a", "b", "c"]
    assert set(itertools.pairwise(steps)) == {("a", "b"), ("b", "c"), ("c", "a")}
    assert "goes round" in _faults({"hierarchies": {"h": {"a": "A"}}})["policy: hierarchies.h"]
    assert (
        "'x' and in 'y'"
        in _faults({"hierarchies": {"h": {"a": "x", "A": "y"}}})["policy: hierarchies.h.A"]
    )


FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({"schema": 2}, "schema", ""),
    ({"atributes": {}}, "atributes", "'attributes'"),
    ({"keys": ["x"]}, "keys", "authority"),
    ({"locale": "xx_YY", "attributes": {"p": {}}}, "attributes.p.locale", "pt_BR"),
    ({"attributes": {"p": {"zone": "Mars/Base"}}}, "attributes.p.zone", "zone"),
    ({"attributes": {"p": {"type": "mony"}}}, "attributes.p.type", "'money'"),
    ({"attributes": {"p": {"change": "overtime"}}}, "attributes.p.change", "'over_time'"),
    ({"attributes": {"p": {"freshnes": "1d"}}}, "attributes.p.freshnes", "'freshness'"),
    ({"attributes": {"p": {"name": "q"}}}, "attributes.p.name", "table"),
    ({"attributes": {"p": {"strict": "yes"}}}, "attributes.p.strict", "true or false"),
    ({"attributes": {"p": {"hierarchy": "places"}}}, "attributes.p.hierarchy", "no hierarchy"),
    ({"attributes": {"p": {"type": "enum"}}}, "attributes.p.options", "needs"),
    ({"attributes": {"p": {"options": ["a"]}}}, "attributes.p.options", "enum"),
    (
        {"attributes": {"p": {"type": "enum", "options": {"a": ["x"], "b": ["X"]}}}},
        "attributes.p.options",
        "spelling",
    ),
    ({"attributes": {"p": {"type": "record"}}}, "attributes.p.fields", "needs"),
    ({"attributes": {"p": {"fields": {"a": {}}}}}, "attributes.p.fields", "record"),
    ({"attributes": {"p": {"tolerance": 1}}}, "attributes.p.tolerance", "text"),
    (
        {"attributes": {"p": {"type": "number", "tolerance": "-1"}}},
        "attributes.p.tolerance",
        "amount",
    ),
    ({"attributes": {"p": {"type": "date", "tolerance": "10"}}}, "attributes.p.tolerance", "10m"),
    ({"attributes": {"p": {"type": "money", "currency": "real"}}}, "attributes.p.currency", "BRL"),
    ({"attributes": {"p": {"type": "date", "formats": ["%d/%m"]}}}, "attributes.p.formats", "year"),
    (
        {"attributes": {"p": {"type": "date", "formats": ["%Y-%Q"]}}},
        "attributes.p.formats",
        "format",
    ),
    ({"attributes": {"p": []}}, "attributes.p", "table"),
    ({"disputes": {"cost_usd": float("inf")}}, "disputes.cost_usd", "finite"),
    ({"disputes": {"cost_usd": float("nan")}}, "disputes.cost_usd", "finite"),
    ({"edges": [0.5, float("nan")]}, "edges", "finite"),
    ({"attributes": {"p": {"edges": [float("inf")]}}}, "attributes.p.edges", "finite"),
    ({"attributes": {"p": {"margin": float("nan")}}}, "attributes.p.margin", "finite"),
    (
        {"attributes": {"p": {"corroboration": {"share": float("inf")}}}},
        "attributes.p.corroboration",
        "finite",
    ),
    (
        {"attributes": {"p": {"type": "number", "tolerance": float("inf")}}},
        "attributes.p.tolerance",
        "amount",
    ),
    ({"entities": {"book": "isbm"}}, "entities.book", "'isbn'"),
    ({"entities": {"book": 1}}, "entities.book", "text"),
    ({"hierarchies": {"h": {"a": 1}}}, "hierarchies.h.a", "text"),
    ({"hierarchies": {"h": 1}}, "hierarchies.h", "table"),
]


@pytest.mark.parametrize(("tables", "place", "told"), FAULTS)
def test_a_fault_names_its_place_and_the_way_out(tables: Any, place: str, told: str) -> None:
    assert told in _faults(tables)[f"policy: {place}"]


def test_all_faults_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    text = """
    kyes = []
    [attributes.price]
    keys = ["recency", "authority"]
    type = "mony"
    freshness = "soon"
    [entities]
    book = "isbm"
    """
    path = _file(tmp_path, text)

    places = (
        "kyes",
        "attributes.price.keys",
        "attributes.price.type",
        "attributes.price.freshness",
        "entities.book",
    )
    assert set(_faults(path)) == {f"{path}: {one}" for one in places}


def test_a_file_that_is_no_toml_names_its_line(tmp_path: Path) -> None:
    path = _file(tmp_path, "schema = 1\n[attributes.price\n")

    assert "line 2" in _faults(str(path))[str(path)]
    assert "no such file" in _faults(tmp_path / "none.toml")[str(tmp_path / "none.toml")]


def test_a_version_is_of_what_a_file_says_not_of_its_layout(tmp_path: Path) -> None:
    """RF-20: neither comments, the order of tables nor what is so by default count."""
    first = read_policy(_file(tmp_path, EXAMPLE))
    head, *parts = EXAMPLE.split("\n\n")
    turned = "# another day\n" + "\n\n".join([head, *reversed(parts)])
    said = EXAMPLE.replace(
        "[attributes.tags]", '[attributes.tags]\nchange = "never"\nedges = [0.6, 0.85]'
    )

    assert read_policy(_file(tmp_path, turned)).version == first.version
    assert read_policy(_file(tmp_path, said)).version == first.version
    for before, after in (
        ("30d", "31d"),
        ('"Lombardy"', '"Piedmont"'),
        ("= 9", "= 8"),
        ("45m", "46m"),
    ):
        changed = EXAMPLE.replace(before, after)
        assert read_policy(_file(tmp_path, changed)).version != first.version


def test_a_policy_comes_back_from_json_as_it_was(example: Policy) -> None:
    """RF-20: what is adopted is the whole of it."""
    again = Policy.of(json.loads(json.dumps(example.plain())))

    assert again == example
    assert again.version == example.version
    assert hash(again) == hash(example)
    assert policy_of(example) is example


@given(policies())
def test_whatever_is_declared_comes_back_from_json(policy: Policy) -> None:
    """RF-20: every legal attribute."""
    again = Policy.of(json.loads(json.dumps(policy.plain())))

    assert again == policy
    assert again.version == policy.version


@given(attribute_tables(), attribute_tables())
def test_two_policies_have_one_version_if_and_only_if_they_say_the_same(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    """RF-20: so that a version stands for its rules."""
    first, second = (Policy.of({"attributes": {"price": each}}) for each in (one, other))

    assert (first.version == second.version) is (first == second)
    assert (attribute_of(first) == attribute_of(second)) is (first == second)


def test_a_strict_policy_holds_for_what_is_not_declared_too() -> None:
    """RF-27: an attribute may be spared, and is so after a round trip."""
    policy = policy_of({"strict": True, "attributes": {"price": {}, "note": {"strict": False}}})

    assert policy.strict
    assert policy.attributes["price"].strict
    assert not policy.attributes["note"].strict
    assert Policy.of(policy.plain()) == policy


def test_a_policy_is_changed_by_its_tables(example: Policy) -> None:
    attributes = {**example.plain()["attributes"], "price": {"type": "number"}}
    other = example.replaced(attributes=attributes)

    assert other.attributes["price"].type == "number"
    assert other.attributes["city"] == example.attributes["city"]
    assert other.version != example.version


@given(st.integers(0, LONGEST))
def test_a_length_of_time_is_read_as_it_was_written(microseconds: int) -> None:
    assert duration(spelt(microseconds)) == microseconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5m", 300),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2 d", 172_800),
        ("1w", 604_800),
        ("500ms", 0.5),
        ("0s", 0),
    ],
)
def test_lengths_of_time_as_people_write_them(text: str, seconds: float) -> None:
    assert duration(text) == seconds * 1_000_000


@pytest.mark.parametrize(
    "text", ["", "5", "m", "5x", "-5m", "5m later", "1.5h", "5m,3s", "101w 99999d"]
)
def test_what_is_no_length_of_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="it is"):
        duration(text)
