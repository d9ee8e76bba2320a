"""Registries: partial orders of levels, voices, clocks, who may correct whom, and their faults."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from facts_strategies import KEY, LEVELS, SOURCES, STRANGER, registries, registry_tables
from pointsman.decision_points.facts.registry import Registry, Source, read_registry, registry_of
from pointsman.gateway.errors import SetupError

OPPOSITE = {"above": "below", "below": "above", "same": "same", "unranked": "unranked"}

EXAMPLE = """
schema = 1
skew = "1m"
order = ["signed", "erp", "crm", "chat"]   # the highest first

[attributes.Price]
order = ["erp", "signed"]
sources = { legacy = "erp" }

[groups.commercial]
attributes = ["discount", "price"]
order = ["chat", "crm"]

[sources.contract]
level = "signed"
[sources.sap]
level = "erp"
skew = "30s"
[sources.crm]
level = "crm"
[sources.legacy]
level = "crm"
copies = "crm"
[sources.chat]
level = "chat"

[actors.maria]
may_correct = ["sap"]
[actors.root]
may_correct = "*"
"""


def _file(folder: Path, text: str) -> Path:
    path = folder / "registry.toml"
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def example(tmp_path: Path) -> Registry:
    return read_registry(_file(tmp_path, EXAMPLE))


def _faults(given: Any) -> dict[str, str]:
    """Place → problem and fix, of what does not load."""
    with pytest.raises(SetupError) as caught:
        registry_of(given)
    return {one.where: f"{one.problem}. {one.fix}" for one in caught.value.faults}


def test_levels_are_ranked_by_the_namespaces_order(example: Registry) -> None:
    """RF-17: a list ranks every level above all that follow."""
    for high, low in itertools.combinations(("signed", "erp", "crm", "chat"), 2):
        assert example.ranked("other", high, low) == "above"
        assert example.ranked("other", low, high) == "below"
    assert example.ranked("other", "erp", "erp") == "same"


def test_an_attributes_order_goes_before_its_groups_and_the_namespaces(example: Registry) -> None:
    """RF-17: attribute, then group, then namespace; what one does not name comes below."""
    chain = ["erp", "signed", "chat", "crm"]  # price's own two, then the group's two

    for high, low in itertools.combinations(chain, 2):
        assert example.ranked("price", high, low) == "above"
    assert example.ranked("discount", "chat", "signed") == "above"
    assert example.ranked("discount", "signed", "erp") == "above"


def test_a_source_may_stand_elsewhere_for_one_attribute(example: Registry) -> None:
    """RF-17: authority is one of source and attribute."""
    assert example.level("legacy", "price") == "erp"
    assert example.level("legacy", "discount") == "crm"


def test_levels_without_a_path_between_them_are_unranked() -> None:
    """RF-18: a partial order leaves pairs open, and says so both ways."""
    registry = registry_of({"above": [["signed", "erp"], ["erp", "chat"]], "levels": ["partner"]})

    assert registry.ranked("price", "signed", "chat") == "above"
    for other in ("signed", "erp", "chat"):
        assert registry.ranked("price", "partner", other) == "unranked"
        assert registry.ranked("price", other, "partner") == "unranked"
    assert registry.ranked("price", "partner", "") == "above"


def test_a_level_passed_over_still_ranks_through_it() -> None:
    """RF-17: below its own levels an attribute keeps the namespace's order, links left out too."""
    registry = registry_of(
        {"order": ["signed", "erp", "chat"], "attributes": {"price": {"order": ["erp"]}}}
    )

    assert registry.ranked("price", "erp", "signed") == "above"
    assert registry.ranked("price", "signed", "chat") == "above"


@pytest.mark.parametrize(
    ("tables", "place", "circle"),
    [
        ({"order": ["a", "b", "a"]}, "order", {"a", "b"}),
        ({"order": ["a", "a"]}, "order", {"a"}),
        ({"above": [["a", "b"], ["b", "c"], ["c", "a"]]}, "above", {"a", "b", "c"}),
        ({"order": ["a", "b"], "above": [["b", "a"]]}, "order", {"a", "b"}),
        (
            {"attributes": {"p": {"above": [["a", "b"], ["b", "a"]]}}},
            "attributes.p.above",
            set("ab"),
        ),
        (
            {"groups": {"g": {"attributes": ["p"], "order": ["a", "b", "a"]}}},
            "groups.g.order",
            set("ab"),
        ),
    ],
)
def test_a_circle_is_refused_and_named(tables: Any, place: str, circle: set[str]) -> None:
    """RF-17: whoever wrote it sees the steps of the circle, the higher first."""
    faults = _faults(tables)

    told = faults[f"registry: {place}"]
    steps = told.split(": ")[1].split(". ")[0].split(" > ")
    assert steps[0] == steps[-1]
    assert set(steps) == circle
    pairs = {(high, low) for high, low in itertools.pairwise(steps)}
    assert pairs <= _pairs(tables)


def _pairs(tables: Any) -> set[tuple[str, str]]:
    """All steps that a file's orders say."""
    found: set[tuple[str, str]] = set()
    for name, one in tables.items():
        if name == "order":
            found |= set(itertools.pairwise(one))
        elif name == "above":
            found |= {(high, low) for high, low in one}
        elif isinstance(one, dict):
            found |= _pairs(one)
    return found


@given(registries(), st.sampled_from((KEY.attribute, "term", "other")))
def test_whatever_loads_is_a_strict_partial_order(registry: Registry, attribute: str) -> None:
    """RF-17, RF-18: irreflexive, asymmetric and transitive, for every attribute."""
    levels = (*LEVELS, "")
    for one, other in itertools.product(levels, repeat=2):
        verdict = registry.ranked(attribute, one, other)
        assert (verdict == "same") == (one == other)
        assert registry.ranked(attribute, other, one) == OPPOSITE[verdict]
    for one, other, third in itertools.product(levels, repeat=3):
        if (
            registry.ranked(attribute, one, other)
            == "above"
            == registry.ranked(attribute, other, third)
        ):
            assert registry.ranked(attribute, one, third) == "above"


@given(registries(), st.sampled_from((KEY.attribute, "term", "other")))
def test_an_unknown_source_is_below_all(registry: Registry, attribute: str) -> None:
    """RF-09: whatever it is called, and it is told from a known one."""
    unknown = registry.level(STRANGER, attribute)

    assert not registry.known(STRANGER)
    assert registry.skew(STRANGER) == registry.usual_skew
    assert registry.lineage(STRANGER) == STRANGER
    for source in SOURCES:
        assert registry.known(source)
        assert registry.ranked(attribute, registry.level(source, attribute), unknown) == "above"


@given(registries(), st.lists(st.sampled_from((*LEVELS, "")), min_size=1))
def test_the_weakest_level_is_one_that_all_others_are_above(
    registry: Registry, levels: list[str]
) -> None:
    """RF-36: what is derived ranks no higher than any of its inputs; without a least, below all."""
    weakest = registry.weakest(KEY.attribute, levels)

    for one in levels:
        assert registry.ranked(KEY.attribute, one, weakest) in ("above", "same")
    least = [
        one
        for one in levels
        if all(registry.ranked(KEY.attribute, each, one) in ("above", "same") for each in levels)
    ]
    assert weakest == (least[0] if least else "")
    assert registry.weakest(KEY.attribute, list(reversed(levels))) == weakest


def test_copies_and_feeds_are_one_voice_however_far() -> None:
    """RF-19: directly or through others, whoever is named first."""
    registry = registry_of(
        {
            "sources": {
                "d": {"copies": ["c"]},
                "c": {"same_feed": "wire"},
                "b": {"same_feed": "wire"},
                "a": {"copies": "d"},
                "wire": {},
                "alone": {"same_feed": "other"},
            }
        }
    )

    assert {registry.lineage(one) for one in "abcd"} == {"a"}
    assert registry.lineage("wire") == "wire"  # a source's name is no feed's
    assert registry.lineage("alone") == "alone"


class _Counted(str):
    """A name that counts how often it is looked up."""

    __slots__ = ()
    asked = 0

    def __hash__(self) -> int:
        _Counted.asked += 1
        return super().__hash__()

    __eq__ = str.__eq__


def test_a_long_chain_of_copies_is_walked_once() -> None:
    """RF-19: each name is looked up some times, however many copy one another."""
    names = [_Counted(f"s{number:04}") for number in range(1000)]
    sources: dict[str, Source] = {names[-1]: Source()}
    sources |= {one: Source(copies=(other,)) for one, other in itertools.pairwise(names)}
    registry = Registry(sources=sources)
    _Counted.asked = 0

    assert registry.lineage("s0999") == "s0000"
    assert _Counted.asked < 50 * len(names)


@given(registries())
def test_a_voice_is_called_like_one_of_its_own(registry: Registry) -> None:
    """RF-19: so that a voice of one source is that source."""
    for source in SOURCES:
        voice = registry.lineage(source)
        assert registry.lineage(voice) == voice


def test_a_source_corrects_itself_and_an_actor_whom_it_may(example: Registry) -> None:
    """RF-14, RF-47: nobody else does."""
    assert example.may("sap", "sap")
    assert example.may(STRANGER, STRANGER)
    assert example.may("maria", "sap")
    assert not example.may("maria", "crm")
    assert example.may("root", "crm")
    assert example.may("root", STRANGER)
    assert not example.may("sap", "maria")
    assert not example.may("crm", "sap")


def test_a_clock_is_as_wrong_as_its_source_says(example: Registry) -> None:
    """RF-42: in microseconds; five minutes unless the registry says otherwise."""
    assert example.skew("sap") == 30_000_000
    assert example.skew("crm") == 60_000_000
    assert registry_of(None).skew("sap") == 300_000_000


def test_names_keep_their_case_and_no_more(example: Registry) -> None:
    assert example.known("  sap ")
    assert example.level(" sap", "price") == "erp"
    assert not example.known("SAP")
    composed, apart = "joão", "joa\u0303o"
    assert registry_of({"sources": {apart: {}}}).known(composed)


def test_a_version_is_of_what_a_file_says_not_of_its_layout(tmp_path: Path) -> None:
    """RF-20: neither comments nor the order of tables count; every word that decides does."""
    first = read_registry(_file(tmp_path, EXAMPLE))
    head, *parts = EXAMPLE.split("\n\n")
    turned = "# another day\n" + "\n\n".join([head, *reversed(parts)])

    assert read_registry(_file(tmp_path, turned)).version == first.version
    for before, after in (
        ('"30s"', '"31s"'),
        ('"erp", "signed"', '"signed", "erp"'),
        ('"sap"]', '"crm"]'),
    ):
        assert (
            read_registry(_file(tmp_path, EXAMPLE.replace(before, after))).version != first.version
        )


@given(registry_tables(), st.randoms())
def test_one_order_written_in_two_ways_is_one_version(tables: dict[str, Any], random: Any) -> None:
    """RF-20: as a list or as pairs, with pairs that follow from others or without."""
    registry = registry_of(tables)
    every = [
        [one, other]
        for one, other in itertools.permutations(LEVELS, 2)
        if registry.ranked("other", one, other) == "above"
    ]
    random.shuffle(every)
    plain = {name: one for name, one in tables.items() if name not in ("order", "above")}

    other = registry_of({**plain, "above": every, "levels": list(LEVELS)})

    assert other == registry
    assert other.version == registry.version


@given(registries())
def test_a_registry_comes_back_from_json_as_it_was(registry: Registry) -> None:
    """RF-20: what is adopted is the whole of it."""
    again = Registry.of(_json(registry.plain()))

    assert again == registry
    assert again.version == registry.version


def _json(plain: Any) -> Any:
    import json

    return json.loads(json.dumps(plain))


def test_sources_may_stand_in_a_table_of_their_own_file(tmp_path: Path) -> None:
    """RF-20: the version is that of its content, read from beside the registry."""
    (tmp_path / "sources.csv").write_text(
        'source,kind,tier,skew,copies\n"Books, Inc",seller,1,,\nmirror,seller,2,30s,"Books, Inc"\n',
        "utf-8",
    )
    path = _file(
        tmp_path, 'order = ["1", "2"]\nsources_file = "sources.csv"\n[sources.extra]\nlevel = "2"'
    )

    read = read_registry(path)

    assert read.level("Books, Inc", "authors") == "1"
    assert read.lineage("mirror") == "Books, Inc"
    assert read.skew("mirror") == 30_000_000
    assert read == registry_of(read.plain())
    (tmp_path / "sources.csv").write_text('source,tier\n"Books, Inc",2\nmirror,2\n', "utf-8")
    assert read_registry(path).version != read.version


def test_a_thousand_levels_are_ranked() -> None:
    """RF-17: every source may have a level of its own."""
    names = [f"level {number}" for number in range(1000)]
    registry = registry_of({"order": names})

    assert registry.ranked("price", names[0], names[-1]) == "above"
    assert registry.ranked("price", names[-1], names[500]) == "below"
    assert registry.weakest("price", names) == names[-1]


FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({"ordr": ["a"]}, "ordr", "'order'"),
    ({"schema": 2}, "schema", ""),
    ({"order": "a"}, "order", "list"),
    ({"order": [1, 2]}, "order", "text"),
    ({"order": [""]}, "order", "empty"),
    ({"above": [["a"]]}, "above", ""),
    ({"skew": 5}, "skew", "in quotes"),
    ({"skew": "5 parsecs"}, "skew", "no duration"),
    ({"order": ["erp"], "sources": {"sap": {"level": "epr"}}}, "sources.sap.level", "'erp'"),
    ({"sources": {"sap": {"level": "erp"}}}, "sources.sap.level", "order"),
    ({"order": ["erp"], "sources": {"sap": {}}}, "sources.sap.level", "erp"),
    ({"sources": {"sap": "erp"}}, "sources.sap", "table"),
    ({"sources": {"sap": {"lvl": "erp"}}}, "sources.sap.lvl", "'level'"),
    ({"sources": {"sap": {}, " sap": {}}}, "sources. sap", "same name"),
    ({"sources": {"legacy": {"copies": "lgacy"}}}, "sources.legacy.copies", "'legacy'"),
    (
        {"sources": {"sap": {}}, "actors": {"m": {"may_correct": ["sapp"]}}},
        "actors.m.may_correct",
        "'sap'",
    ),
    (
        {"attributes": {"p": {"sources": {"sap": "a"}, "order": ["a"]}}},
        "attributes.p.sources",
        "no source",
    ),
    (
        {"sources": {"sap": {}}, "attributes": {"p": {"sources": {"sap": "b"}, "order": ["a"]}}},
        "attributes.p.sources.sap",
        "no level",
    ),
    ({"attributes": {"p": {"attributes": ["q"]}}}, "attributes.p.attributes", "group"),
    ({"groups": {"g": {"order": ["a"]}}}, "groups.g.attributes", "none"),
    (
        {"groups": {"g": {"attributes": ["p"]}, "h": {"attributes": ["P"]}}},
        "groups.h.attributes",
        "too",
    ),
    ({"attributes": {"P": {}, "p ": {}}}, "attributes.p ", "same name"),
    ({"attributes": []}, "attributes", "table"),
]


@pytest.mark.parametrize(("tables", "place", "told"), FAULTS)
def test_a_fault_names_its_place_and_the_way_out(tables: Any, place: str, told: str) -> None:
    assert told in _faults(tables)[f"registry: {place}"]


def test_all_faults_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        'order = ["a", "b", "a"]\nskew = "x"\n[sources.sap]\nlvl = "a"\n[actors.m]\nmay = 1',
    )

    faults = _faults(path)

    places = ("order", "skew", "sources.sap.lvl", "sources.sap.level", "actors.m.may")
    assert set(faults) == {f"{path}: {one}" for one in places}


def test_a_circle_makes_no_further_faults(tmp_path: Path) -> None:
    """RF-17: what names one of its levels is right."""
    path = _file(tmp_path, 'order = ["a", "b", "a"]\n[sources.sap]\nlevel = "b"')

    assert set(_faults(path)) == {f"{path}: order"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "there is no such file"),
        (b"order = [", "no TOML"),
        (b"\xff", "UTF-8"),
        (b'sources_file = "none.csv"', "no such file"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(
    tmp_path: Path, content: bytes | None, told: str
) -> None:
    path = tmp_path / "registry.toml"
    if content is not None:
        path.write_bytes(content)

    assert told in " ".join(_faults(path).values())


def test_a_row_of_a_file_of_sources_is_named_in_its_fault(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("source,tier,skew\nsap,1,soon\n,1,\nsap,1,\n", "utf-8")
    path = _file(tmp_path, 'order = ["1"]\nsources_file = "s.csv"')

    faults = _faults(path)

    listed = {place.removeprefix(f"{tmp_path}/") for place in faults}
    assert listed == {"s.csv: sap.skew", "s.csv: row 3", "s.csv: sap"}


def test_what_is_no_file_has_no_other_file_read(tmp_path: Path) -> None:
    """RF-81: a registry out of a log or off the network is data."""
    (tmp_path / "s.csv").write_text("source,tier\nsap,1\n", "utf-8")

    told = _faults({"order": ["1"], "sources_file": str(tmp_path / "s.csv")})

    assert "only a registry file" in told["registry: sources_file"]


def test_very_many_faults_are_told_in_part(tmp_path: Path) -> None:
    """Whoever reads them knows that there are more."""
    rows = "".join(f"source {number},1,nobody {number}\n" for number in range(1000))
    (tmp_path / "s.csv").write_text(f"source,tier,copies\n{rows}", "utf-8")
    path = _file(tmp_path, 'order = ["1"]\nsources_file = "s.csv"')

    faults = _faults(path)

    assert "more faults than these 100" in faults[str(path)]
    assert len(faults) == 101


def test_a_registry_is_changed_by_its_tables(example: Registry) -> None:
    other = example.replaced(order=["chat", "crm", "erp", "signed"])

    assert other.ranked("other", "chat", "signed") == "above"
    assert other.level("sap", "price") == "erp"
    assert other.version != example.version
