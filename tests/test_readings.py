"""Readings of the catalogue's open questions that hold for every point."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pointsman import DeclarationError, Gateway, Held, NoAnswer, Reason, Reply, Usage, scripted
from pointsman.decision_points import GUARDRAIL_REVPREC, GUARDRAIL_TOX, JUDGE_ALUC

Gateways = Callable[..., Gateway]


def test_a22_a_done_operation_is_held_against_this_turns_evidence_alone() -> None:
    """A22: the newest contract; earlier turns prove nothing, so they are not sent."""
    state = {"answer": "It is done.", "evidence": [], "history": ["it was done before"]}
    ask = GUARDRAIL_REVPREC.ask(state)
    assert ask.state == {"answer": "It is done.", "evidence": []}
    (question,) = ask.questions.values()
    assert "already been done" in question.instructions
    assert "evidence of this turn" in question.instructions


def test_a22_a_deployment_may_ask_in_its_own_words() -> None:
    """A22: another contract is another wording of the same point."""
    worded = GUARDRAIL_REVPREC.worded({"en": {"unproven_completion": "Is an action promised?"}})
    (question,) = worded.ask({"answer": "I am going to cancel it"}).questions.values()
    assert question.instructions == "Is an action promised?"


def test_a28_what_stands_behind_current_does_not_hide_the_selection(gateway_of: Gateways) -> None:
    """A28: a mock belongs to `current`; the selected provider is asked all the same."""
    gateway, ran = gateway_of(), list[str]()

    @gateway.point(GUARDRAIL_TOX)
    def mock(text: str) -> bool:
        ran.append(text)
        return False

    with gateway.override({"GUARDRAIL_TOX": scripted(True)}):  # noqa: FBT003
        assert mock("you fool") is True
    assert ran == []


def test_a29_a_point_that_generates_nothing_needs_no_path_of_the_hosts(
    gateway_of: Gateways,
) -> None:
    """A29: without any function of the host, the gateway is presence enough."""
    gateway = gateway_of()
    with gateway.override({"GUARDRAIL_TOX": scripted(True)}):  # noqa: FBT003
        assert gateway.ask_sync("GUARDRAIL_TOX", "you fool").value is True


def test_a30_without_time_nobody_is_asked_and_current_decides(gateway_of: Gateways) -> None:
    """A30: one deadline covers the provider and the fallback."""
    gateway = gateway_of({"DECISION_GUARDRAIL_TOX_DEADLINE_SECONDS": "0.01"})
    decider = scripted(True)  # noqa: FBT003
    with gateway.override({"GUARDRAIL_TOX": decider}):
        decision = gateway.ask_sync("GUARDRAIL_TOX", "hm", current=lambda: False)
    assert [one.reason for one in decision.attempts] == [Reason.SKIPPED, Reason.OK]
    assert decider.asked == []


def test_a32_a_rejected_answer_counts_as_usage_and_a_lost_one_does_not(
    gateway_of: Gateways,
) -> None:
    """A32: what was received is paid for, believed or not."""
    gateway = gateway_of()
    unsure = Reply({"unsupported_fact": Held(0.55)}, usage=Usage(70, 3, 0.01))
    state = {"answer": "It costs 25.", "evidence": []}
    for line, tokens in ((unsure, 70), (NoAnswer(Reason.TRANSPORT), 0)):
        with gateway.override({"JUDGE_ALUC": scripted(line)}):
            decision = gateway.ask_sync(JUDGE_ALUC, state, current=lambda: True)
        assert (decision.provider, decision.record.tokens) == ("current", tokens)


def test_a35_only_text_is_judged() -> None:
    """A35: images and audio are no state."""
    with pytest.raises(DeclarationError, match="GUARDRAIL_TOX"):
        GUARDRAIL_TOX.ask({"text": object()})
