"""The one gate through which a debate looks things up."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import pytest

from debating import ALL, NONE, ROLES, Asked, agreeing, held, rules_of, spoken, stand, trio
from pointsman.providers.deliberation.dynamics import Chunk, Rules, State
from pointsman.providers.deliberation.dynamics.retrieval import CITATION, cited, unfounded
from virtual import obedient

SCOPES = ("knowledge/", "processing/insights/")
FOUND = [("CG001_042", "Churn is 4 %."), ("CG001_043", "The runway is nine months.")]


def wants(*queries: str, scope: str = "knowledge/", purpose: str = "support") -> list[Any]:
    return [{"query": one, "scope": scope, "purpose": purpose} for one in queries]


def asking(
    role: str, queries: Sequence[Any], *, cites: Sequence[str] = ("[RAG:CG001_042]",)
) -> Asked:
    """Ask for look-ups first, and cite then what it was told of."""

    def speaks(draft: Any) -> Any:
        told = draft.state.get("retrieved")
        usual = stand(role, 1, evidence=list(cites) if told else [])
        return spoken(draft, {**usual, "queries": [] if told else list(queries)})

    return Asked(speaks)


class Search:
    """Finds the same for every query, and notes what it was asked."""

    def __init__(self, found: Any = FOUND, seconds: float = 0.0) -> None:
        self.asked: list[tuple[str, str]] = []
        self._found, self._seconds = found, seconds

    async def __call__(self, query: str, scope: str) -> Any:
        self.asked.append((query, scope))
        await asyncio.sleep(self._seconds)
        if isinstance(self._found, BaseException):
            raise self._found
        return self._found


def test_what_is_found_is_told_and_cited() -> None:
    """DD-17, DD-46, DD-50, DD-79, BR-21: `[RAG:<chunk_id>]`, counted, in the log."""
    search, role = Search(), asking("cfo", wants("churn"))
    done = held({**trio(ALL), "cfo": role}, retrieve=search)

    assert search.asked == [("churn", "knowledge/")]
    first, second = role.states
    assert first["scopes"] == list(SCOPES)
    (told,) = second["retrieved"]
    assert [one["cite"] for one in told["found"]] == ["[RAG:CG001_042]", "[RAG:CG001_043]"]
    assert all(one["text"].startswith("~~~") for one in told["found"])
    assert done.log["rag_queries"] == {
        "total": 1,
        "sucesso": 1,
        "timeout": 0,
        "erro": 0,
        "recusadas": 0,
        "chunks_citados": ["CG001_042"],
    }
    assert done.state is State.EMITTED


def test_the_form_of_a_citation() -> None:
    """DD-50: `\\[RAG:[A-Za-z0-9]+_[0-9]+\\]`."""
    assert CITATION.pattern.replace("(", "").replace(")", "") == r"\[RAG:[A-Za-z0-9]+_[0-9]+\]"
    text = "see [RAG:CG001_042], [RAG:x], [rag:A_1] and [RAG:B_2]; [RAG:B_2]"
    assert cited([text]) == ["CG001_042", "B_2"]
    assert unfounded([text], frozenset({"B_2"})) == ["CG001_042"]


def test_the_sixth_query_is_refused_and_not_run() -> None:
    """DD-18, DD-47, DD-48, AM-34: five of the whole debate, whoever asks; 5 are allowed."""
    search = Search()
    functions = {one: asking(one, wants("a", "b")) for one in ROLES}
    done = held(functions, retrieve=search)

    assert len(search.asked) == 5
    log = done.log["rag_queries"]
    assert (log["total"], log["sucesso"], log["recusadas"]) == (5, 5, 1)
    refused = [one for one in done.transcript.entries if one.kind == "retrieval"]
    assert [one.body["why"] for one in refused if one.body["ending"] == "refused"] == ["budget"]
    assert done.synthesis is not None
    assert "retrieval" not in done.synthesis.confidence.parts


def test_a_later_round_is_not_told_of_look_ups_that_are_used_up() -> None:
    """DD-84: retrievals stay within their budget."""
    role = asking("cfo", wants("a"))
    functions = {**trio(NONE, NONE), "cfo": role}
    held(functions, retrieve=Search(), rules=rules_of(rag_max_queries=1, rounds_max=2))
    assert ["scopes" in one for one in role.states] == [True, False, False]


@pytest.mark.parametrize(("seconds", "ending"), [(14.0, "ok"), (16.0, "timeout")])
def test_a_slow_query_is_aborted_and_the_debate_goes_on(seconds: float, ending: str) -> None:
    """DD-19, DD-49, DD-67: 15 s; what could not be had costs five points (AM-27)."""
    role = asking("cfo", wants("churn"), cites=())
    done = held({**trio(ALL), "cfo": role}, retrieve=Search(seconds=seconds))
    (entry,) = [one for one in done.transcript.entries if one.kind == "retrieval"]
    assert entry.body["ending"] == ending
    assert entry.body["seconds"] == pytest.approx(min(seconds, 15))
    assert done.synthesis is not None
    assert done.synthesis.confidence.parts == ({} if ending == "ok" else {"retrieval": -5.0})
    assert done.state is State.EMITTED


def test_a_query_is_inside_of_its_roles_own_time() -> None:
    """AM-13: the role's clock never stops; three of 14 s do not fit into 30 s."""
    role = asking("cfo", wants("a", "b", "c"))
    done = held({**trio(ALL), "cfo": role}, retrieve=Search(seconds=14))
    endings = [one.body["ending"] for one in done.transcript.entries if one.kind == "retrieval"]
    assert endings == ["ok", "ok", "timeout"]
    assert done.rounds[0].seconds == pytest.approx(30)
    assert "cfo" in done.rounds[0].fresh  # what it said before it looked anything up
    assert "TIMEOUT: CFO em R1" in done.lines


def test_a_search_that_swallows_the_end_of_its_time_holds_up_nobody() -> None:
    """BR-02, DD-49: it is let go of, and the role speaks on."""

    async def stubborn(_: str, __: str) -> Any:
        ends = asyncio.get_running_loop().time() + 500
        while (left := ends - asyncio.get_running_loop().time()) > 0:
            try:
                await asyncio.sleep(left)
            except asyncio.CancelledError:
                continue
        return FOUND

    role = asking("cfo", wants("churn"), cites=())
    done = held({**trio(ALL), "cfo": role}, retrieve=stubborn)
    assert done.rounds[0].seconds == pytest.approx(15)
    assert done.log["rag_queries"]["timeout"] == 1
    assert done.state is State.EMITTED


@pytest.mark.parametrize(
    "scope", ["https://example.org", "web", "../knowledge/", "knowledge", "processing/"]
)
def test_nothing_outside_of_the_scopes_is_ever_searched(scope: str) -> None:
    """DD-20, DD-46, AM-34: external search is forbidden: quality control and traceability."""
    search = Search()
    done = held({**trio(ALL), "cfo": asking("cfo", wants("x", scope=scope))}, retrieve=search)
    assert search.asked == []
    (entry,) = [one for one in done.transcript.entries if one.kind == "retrieval"]
    assert (entry.body["ending"], entry.body["why"]) == ("refused", "scope")


def test_scopes_come_from_the_settings() -> None:
    """AM-34: whatever folders the operator names."""
    search = Search()
    rules = rules_of(rag_scopes=("policies/",))
    role = asking("cfo", wants("x", scope="policies/"))
    held({**trio(ALL), "cfo": role}, retrieve=search, rules=rules)
    assert search.asked == [("x", "policies/")]


@pytest.mark.parametrize(
    "rules", [rules_of(rag_internal_queries=False), rules_of(rag_max_queries=0)]
)
def test_look_ups_can_be_switched_off(rules: Rules) -> None:
    """DD-17 as a setting: nobody is told of them, and a role that asks is invalid."""
    search, role = Search(), asking("cfo", wants("x"))
    held({**trio(ALL), "cfo": role}, retrieve=search, rules=rules)
    assert search.asked == []
    assert "scopes" not in role.states[0]
    assert "queries" not in role.drafts[0].schema["properties"]


@pytest.mark.parametrize("purpose", ["support", "already_treated", "quotation", "divergence"])
def test_what_may_be_looked_up_for(purpose: str) -> None:
    """DD-51."""
    search = Search()
    held({**trio(ALL), "cfo": asking("cfo", wants("x", purpose=purpose))}, retrieve=search)
    assert len(search.asked) == 1


def test_and_for_what_else_it_may_not() -> None:
    """DD-51: the list is closed; such an answer is invalid."""
    search = Search()
    done = held(
        {**trio(ALL), "cfo": asking("cfo", wants("x", purpose="curiosity"))}, retrieve=search
    )
    assert search.asked == []
    assert "cfo" in done.missing


@pytest.mark.parametrize("fault", [KeyError("planted"), OSError(), asyncio.CancelledError()])
def test_a_search_that_fails_costs_points_and_no_debate(fault: BaseException) -> None:
    """DD-79: an error class of its own, so that total = success + timeout + error."""
    role = asking("cfo", wants("churn"), cites=())
    done = held({**trio(ALL), "cfo": role}, retrieve=Search(fault))
    log = done.log["rag_queries"]
    assert (log["total"], log["sucesso"], log["timeout"], log["erro"]) == (1, 0, 0, 1)
    assert done.state is State.EMITTED
    assert "planted" not in str(done.transcript.entries)


def test_what_could_not_be_cited_is_not_told() -> None:
    role = asking("cfo", wants("x"), cites=())
    found = [Chunk("A_1", "one"), {"id": "B 2", "text": "two"}, {"id": "C_3", "text": "three"}]
    held({**trio(ALL), "cfo": role}, retrieve=Search(found))
    (told,) = role.states[1]["retrieved"]
    assert [one["cite"] for one in told["found"]] == ["[RAG:A_1]", "[RAG:C_3]"]


def test_a_citation_that_nobody_retrieved_is_asked_about_once_and_then_left_out() -> None:
    """BR-21, AM-19: a re-ask is one refinement; the transcript keeps what was said."""
    cites = {"evidence": ["E1", "[RAG:GHOST_1]"]}
    functions = {**trio(ALL), "cto": obedient(agreeing("cto", ALL, **cites))}
    done = held(functions)
    again = [turn for turn in done.turns if turn.kind == "verification"]
    assert [turn.member for turn in again] == ["cto"]
    assert done.log["metricas"]["refinamentos"] == 1
    assert done.rounds[0].fresh["cto"].evidence == ("E1",)
    assert "unfounded citations: cto, 1" in done.transcript.notes


def test_it_may_take_the_chance_to_put_it_right() -> None:
    def speaks(draft: Any) -> Any:
        wrong = draft.state.get("unfounded")
        assert wrong in (None, ["[RAG:GHOST_1]"])
        return spoken(draft, stand("cto", 1, evidence=[] if wrong else ["[RAG:GHOST_1]"]))

    done = held({**trio(ALL), "cto": Asked(speaks)})
    assert done.transcript.notes == ()
    assert done.rounds[0].refined


def test_checks_of_citations_can_be_switched_off() -> None:
    """`verify = false`: what nobody retrieved is left out all the same."""
    cites = {"evidence": ["[RAG:GHOST_1]"]}
    functions = {**trio(ALL), "cto": obedient(agreeing("cto", ALL, **cites))}
    done = held(functions, rules=rules_of(verify=False))
    assert not any(turn.kind == "verification" for turn in done.turns)
    assert done.rounds[0].fresh["cto"].evidence == ()


def test_a_role_may_cite_what_another_retrieved() -> None:
    """Found is found: the budget is shared, and so is what it bought."""

    def cites(draft: Any) -> Any:
        later = draft.round > 1
        return spoken(
            draft,
            stand("cro", draft.round, agreed=NONE, evidence=["[RAG:CG001_042]"] if later else []),
        )

    functions = {"cfo": asking("cfo", wants("x")), "cro": Asked(cites)}
    done = held(functions, retrieve=Search(), rules=rules_of(rounds_max=2))
    assert not any(turn.kind == "verification" for turn in done.turns)
    assert done.log["rag_queries"]["chunks_citados"] == ["CG001_042"]


def test_the_pages_own_example_of_a_chunk() -> None:
    assert re.fullmatch(CITATION, "[RAG:CG001_042]")


GHOST = "[RAG:GHOST_1]"


def ghostly(field: str) -> dict[str, Any]:
    """What a role may say, with one citation of nothing in *field*."""
    point = {"label": "A", "point": "p", "evidence": []}
    fields: dict[str, Any] = {
        "position": f"It pays {GHOST}.",
        "premises": [f"the runway {GHOST}", GHOST],
        "risks": [f"churn {GHOST}"],
        "timing": f"Q1 {GHOST}",
        "reasoning": f"because of {GHOST}",
        "limitations": [f"unless {GHOST}"],
        "agreements": [{**point, "evidence": [GHOST]}],
        "divergences": [
            {**point, "about": "timing", "kind": "values", "critical": False, "evidence": [GHOST]}
        ],
        "blind_spots": [{"label": "A", "point": f"p {GHOST}"}],
        "resolutions": [{"about": "risks", "stance": f"s {GHOST}", "evidence": [GHOST]}],
    }
    return {field: fields[field]}


@pytest.mark.parametrize(
    ("field", "number"),
    [
        ("position", 1),
        ("premises", 1),
        ("risks", 1),
        ("timing", 1),
        ("reasoning", 1),
        ("limitations", 1),
        ("agreements", 2),
        ("divergences", 2),
        ("blind_spots", 2),
        ("resolutions", 3),
    ],
)
def test_a_citation_of_nothing_gets_through_nowhere(field: str, number: int) -> None:
    """BR-21: wherever it stands it is asked about; what is left then, nobody else is shown."""

    def speaks(draft: Any) -> Any:
        more = ghostly(field) if draft.round == number else {}
        return spoken(draft, {**stand("cto", draft.round, agreed=NONE), **more})

    others = {one: Asked(agreeing(one, NONE, NONE, NONE)) for one in ("cfo", "cro")}
    critics = Asked(lambda draft: spoken(draft, {}))
    done = held({**others, "cto": Asked(speaks)}, council={"critic": critics})

    again = [turn for turn in done.turns if turn.kind == "verification"]
    assert [(turn.member, turn.round) for turn in again] == [("cto", number)]
    assert f"unfounded citations: cto, {number}" in done.transcript.notes
    for one in (*others.values(), critics):
        assert len(one.drafts) > 0
        assert "GHOST" not in str(one.states)
    assert "GHOST" not in str((done.synthesis, done.rounds, done.breaker, done.log))
    assert GHOST in str([turn.said for turn in done.turns])  # as it was said


def test_a_premise_that_loses_its_citation_is_still_a_premise() -> None:
    """BR-21: words stand without it; an entry that was nothing else is gone."""
    functions = {**trio(ALL), "cto": Asked(lambda d: spoken(d, stand("cto") | ghostly("premises")))}
    done = held(functions)
    assert done.rounds[0].fresh["cto"].premises == ("the runway",)


def test_a_re_ask_is_inside_of_its_roles_own_time() -> None:
    """AM-13, AM-19, FV-29: its clock never stops, so that the published worst case is true."""
    cites = {"evidence": [GHOST]}
    slow = {one: obedient(agreeing(one, NONE, **cites), 20) for one in ROLES}
    done = held(slow, rules=rules_of(rounds_max=1))
    assert [turn.ending for turn in done.turns if turn.kind == "verification"] == ["timeout"] * 3
    assert done.rounds[0].seconds == pytest.approx(30)
    assert done.rounds[0].fresh.keys() == set(ROLES)
    assert all(one.evidence == () for one in done.rounds[0].fresh.values())

    none_left = {one: obedient(agreeing(one, NONE, **cites), 29.99) for one in ROLES}
    done = held(none_left, rules=rules_of(rounds_max=2, timeout_total=900))
    assert done.rounds[1].seconds == pytest.approx(90)
