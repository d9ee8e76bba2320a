"""What of a state the embedded decider reads: the words said, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.providers.local.words import Said, part, said

USER, BOT = "user", "assistant"


def message(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


STATES = {
    "a text as it is": ("pay: my bill", Said("pay: my bill")),
    "no role before it": ("User: pay my bill", Said("pay my bill")),
    "a transcript": (
        "User: hi\nAgent: hello, how\ncan I help?\nUser: pay my bill",
        Said("pay my bill", ("hi", "hello, how\ncan I help?")),
    ),
    "roles in Portuguese": ("Cliente: oi\nAtendente: olá", Said("oi", ("olá",))),
    "a role later is only text": ("he said\nUser: x", Said("he said\nUser: x")),
    "messages": (
        [message("system", "Be kind."), message(USER, "a"), message(BOT, "b"), message(USER, "c")],
        Said("c", ("a", "b")),
    ),
    "the user's last message, though another follows": (
        [message(USER, "a"), message(BOT, "b")],
        Said("a", ("b",)),
    ),
    "parts of a message": (
        [message(USER, [{"type": "text", "text": "see this"}, {"type": "image", "url": "x.png"}])],
        Said("see this"),
    ),
    "four earlier turns at most": (
        [message(USER, str(turn) + " x") for turn in range(9)],
        Said("8 x", ("4 x", "5 x", "6 x", "7 x")),
    ),
    "no catalogue, no agent": (
        {
            "message": "what changed?",
            "agent": "billing_agent",
            "allowed_intents": [{"intent": "bill", "description": "Explains amounts of a bill"}],
            "transaction_context": {"status": "AWAITING_INPUT", "reason": "none of your words"},
        },
        Said("what changed?"),
    ),
    "the current message before others": (
        {
            "current_message": "and now?",
            "recent_history": [message(USER, "How much?"), message(BOT, "30 GB a month.")],
            "previous_intent": "service_list",
        },
        Said("and now?", ("How much?", "30 GB a month.")),
    ),
    "an answer is judged, its question is earlier": (
        {"question": "when is it due?", "answer": "On the 10th.", "evidence": [{"due": 10}]},
        Said("On the 10th.", ("when is it due?",)),
    ),
    "a prompt before the reply": (
        {"pending_prompt": "May I cancel it?", "user_input": "yes", "allowed_values": ["YES"]},
        Said("yes", ("May I cancel it?",)),
    ),
    "an interruption": (
        {"original_agent": "It closed at", "original_client": "my bill", "supplement_client": "no"},
        Said("no", ("It closed at", "my bill")),
    ),
    "newest first": (
        {"message": "x", "conversation_newest_first": ["b b", "a a"]},
        Said("x", ("a a", "b b")),
    ),
    "several fields of one kind": (
        {"subject": "Refund", "body": "My invoice doubled", "id": "T-1"},
        Said("Refund\nMy invoice doubled"),
    ),
    "camel case": ({"userInput": "hello", "chatHistory": ["a b"]}, Said("hello", ("a b",))),
    "unknown fields: what reads as words": (
        {"ticket": {"id": "T-1", "complaint": "My invoice doubled", "lang": "en", "n": 3}},
        Said("My invoice doubled"),
    ),
    "single words where there are no others": ({"x": "a@b.c", "y": "refund"}, Said("refund")),
    "only a history": ({"messages": [message(USER, "hello there")]}, Said("hello there")),
    "numbers said as words": ({"message": "42"}, Said("42")),
    "a text that is JSON": ('{"message": "hi you", "note": "do it"}', Said("hi you\ndo it")),
    "a text that only looks like it": ("{do it}", Said("{do it}")),
    "JSON without words": ("[1, 2]", Said("[1, 2]")),
    "nothing": ({}, Said("")),
    "null": (None, Said("")),
    "blank": ("  ", Said("")),
}


@pytest.mark.parametrize(("state", "expected"), STATES.values(), ids=STATES)
def test_only_the_words_said_are_read(state: Any, expected: Said) -> None:
    assert said(state) == expected


json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("role"), inner),
    max_leaves=20,
)


@given(json)
def test_any_json_can_be_read(state: Any) -> None:
    """No state is too odd: at worst nothing was said."""
    found = said(state)
    assert len(found.earlier) <= 4
    assert all(isinstance(text, str) for text in (found.last, *found.earlier))


def test_a_state_may_be_deep() -> None:
    """A text of brackets is no way to break the decider."""
    deep = "[" * 100_000
    assert said(deep) == Said(deep[:2_000])
    nested: Any = "deep down"
    for _ in range(900):
        nested = [nested]
    assert said(nested) == Said("")


@pytest.mark.parametrize(
    ("question", "expected"),
    [("goal_2", "buy a flight"), ("goal_3", None), ("goal_0", None), ("goal", None), ("x_1", None)],
)
def test_a_numbered_question_is_about_its_entry(question: str, expected: str | None) -> None:
    assert part({"goals": ["see my bill", "buy a flight"]}, question) == expected
