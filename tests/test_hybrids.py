"""
Hybrid points: the wrapped function supplies what the provider chooses among, and runs once.

Its value is the extraction, and the answer wherever the provider is not believed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from pointsman import (
    Choice,
    DecisionPoint,
    DeclarationError,
    Gateway,
    NoAnswer,
    Reason,
    Recorder,
    SetupError,
    scripted,
)
from pointsman.gateway.offering import Hybrid, Repeat

Gateways = Callable[..., Gateway]


class Parts(msgspec.Struct, frozen=True):
    """What the function finds in a text, and what each part is."""

    texts: tuple[str, ...]
    kinds: Mapping[str, Any] = {}
    sure: float = 1.0


def _read(value: Any) -> Parts | None:
    return value if isinstance(value, Parts) else msgspec.convert(value, Parts)


def _extend(state: Mapping[str, Any], parts: Parts) -> Mapping[str, Any]:
    if any(text not in state["text"] for text in parts.texts):
        raise DeclarationError("a part that was not said")
    return {**state, "parts": list(parts.texts)}


def _merge(parts: Parts, outcome: Mapping[str, Any], confidence: float) -> Parts:
    return Parts(parts.texts, dict(outcome), min(parts.sure, confidence))


POINT = DecisionPoint(
    name="PARTS",
    questions={"": {"part": Choice("What is part {n}?", ["request", "remark"])}},
    reads=("text", "parts"),
    words="text",
    repeats={"part": Repeat("parts", "part_{n}")},
    hybrid=Hybrid(_read, _extend, _merge, outcome=lambda parts: parts.kinds),
)
FOUND = Parts(("see my bill", "and fast"), {"part_1": "request", "part_2": "request"}, 0.9)
MESSAGE = "see my bill and fast"


class Host:
    """A host's extractor that counts its runs."""

    def __init__(self, found: Any = FOUND) -> None:
        self.runs = 0
        self._found = found

    def __call__(self) -> Any:
        self.runs += 1
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


def _wrapped(gateway: Gateway, host: Host, **given: Any) -> Callable[[str], Any]:
    @gateway.point(POINT, **given)
    def parts(text: str) -> Any:  # noqa: ARG001
        return host()

    return parts  # type: ignore[no-any-return]


@pytest.fixture
def gateway(gateway_of: Gateways) -> Gateway:
    return gateway_of()


def test_the_provider_chooses_about_what_the_function_found(gateway: Gateway) -> None:
    host, decider = Host(), scripted({"part_1": "request", "part_2": "remark"})
    parts = _wrapped(gateway, host)

    with gateway.override({"PARTS": decider}):
        decision = gateway.decide_sync(parts, MESSAGE)

    assert decision.value == Parts(FOUND.texts, {"part_1": "request", "part_2": "remark"}, 0.9)
    assert decision.record.outcome == {"part_1": "request", "part_2": "remark"}
    assert (host.runs, decision.provider) == (1, "scripted")
    (ask,) = decider.asked
    assert [one.instructions for one in ask.questions.values()] == [
        "What is part 1?",
        "What is part 2?",
    ]
    assert ask.state == {"text": MESSAGE, "parts": ["see my bill", "and fast"]}


@pytest.mark.parametrize("reason", [Reason.TIMEOUT, Reason.REFUSED, Reason.AUTH])
def test_on_fallback_the_value_is_the_one_that_was_extracted(
    gateway: Gateway, reason: Reason
) -> None:
    host = Host()
    parts = _wrapped(gateway, host)

    with gateway.override({"PARTS": scripted(reason)}):
        decision = gateway.decide_sync(parts, MESSAGE)

    assert decision.value is FOUND
    assert host.runs == 1
    assert [one.provider for one in decision.attempts] == ["scripted", "current"]
    assert decision.record.reason is reason
    assert decision.record.fallback
    assert decision.record.outcome == FOUND.kinds


def test_an_unsure_part_falls_back_whole(gateway: Gateway) -> None:
    host = Host()
    parts = _wrapped(gateway, host)
    with gateway.override({"PARTS": scripted("remark", confidence=0.5)}):
        assert parts(MESSAGE) is FOUND
    assert host.runs == 1


async def _async(gateway: Gateway, host: Host) -> Any:
    @gateway.point(POINT)
    async def parts(text: str) -> Parts:  # noqa: ARG001
        await asyncio.sleep(0)
        return host()  # type: ignore[no-any-return]

    return await gateway.decide(parts, MESSAGE)


@pytest.mark.parametrize(
    ("line", "provider"), [("remark", "scripted"), (Reason.REFUSED, "current")]
)
def test_an_async_function_runs_once_too(gateway: Gateway, line: Any, provider: str) -> None:
    host = Host()
    with gateway.override({"PARTS": scripted(line)}):
        decision = asyncio.run(_async(gateway, host))
    assert (host.runs, decision.provider) == (1, provider)


def test_a_rejected_extraction_is_never_sent(gateway: Gateway) -> None:
    host, decider = Host(Parts(("never said",))), scripted("remark")
    parts = _wrapped(gateway, host)
    with gateway.override({"PARTS": decider}):
        decision = gateway.decide_sync(parts, MESSAGE)
    assert decision.value == Parts(("never said",))
    assert decision.record.reason is Reason.UNSUPPORTED
    assert (host.runs, decider.asked) == (1, [])


def test_a_rejected_extraction_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    gateway = Gateway.from_env({"DECISION_LOG": "json"})
    parts = _wrapped(gateway, Host(Parts(("never said",))))
    with gateway.override({"PARTS": scripted("remark")}):
        parts(MESSAGE)
    told = capsys.readouterr().err
    assert "decision.read_failed" in told
    assert "never said" not in told


def test_a_rejected_extraction_without_fallback_is_the_hosts_to_handle(
    gateway_of: Gateways,
) -> None:
    gateway = gateway_of({"DECISION_FALLBACK_TO_CURRENT": "false"})
    parts = _wrapped(gateway, Host(Parts(("never said",))))
    with gateway.override({"PARTS": scripted("remark")}), pytest.raises(NoAnswer) as caught:
        parts(MESSAGE)
    assert caught.value.reason is Reason.UNSUPPORTED


def test_where_nothing_was_found_nobody_is_asked(gateway: Gateway) -> None:
    host, decider = Host(Parts(())), scripted("remark")
    parts = _wrapped(gateway, host)
    with gateway.override({"PARTS": decider}):
        decision = gateway.decide_sync(parts, MESSAGE)
    assert (decision.value, decision.provider) == (Parts(()), "current")
    assert not decision.record.fallback
    assert (host.runs, decider.asked) == (1, [])


def test_what_the_function_raises_reaches_the_host_untouched(gateway: Gateway) -> None:
    host = Host(KeyError("its own"))
    parts = _wrapped(gateway, host)
    with gateway.override({"PARTS": scripted("remark")}), pytest.raises(KeyError, match="its own"):
        parts(MESSAGE)
    assert host.runs == 1


def test_a_function_of_a_dict_gets_its_dict_back(gateway: Gateway) -> None:
    own = object()
    parts = _wrapped(gateway, Host({"texts": ["see my bill"], "own": own}))
    with gateway.override({"PARTS": scripted("remark", confidence=0.8)}):
        assert parts(MESSAGE) == {
            "own": own,
            "texts": ["see my bill"],
            "kinds": {"part_1": "remark"},
            "sure": 0.8,
        }


def test_read_and_write_of_the_host_go_around_the_extraction(gateway: Gateway) -> None:
    parts = _wrapped(
        gateway,
        Host("see my bill|and fast"),
        read=lambda said: {"texts": said.split("|")},
        write=lambda merged: "|".join(merged.kinds.values()),
    )
    with gateway.override({"PARTS": scripted("remark")}):
        assert parts(MESSAGE) == "remark|remark"


def test_a_type_that_no_answer_can_be_put_into_is_the_operators_fault(gateway: Gateway) -> None:
    parts = _wrapped(gateway, Host("see my bill"), read=lambda said: {"texts": [said]})
    with gateway.override({"PARTS": scripted("remark")}), pytest.raises(SetupError, match="write="):
        parts(MESSAGE)


def test_with_current_as_plan_nothing_is_read_or_built(gateway: Gateway) -> None:
    value = object()
    assert _wrapped(gateway, Host(value))(MESSAGE) is value


def test_what_current_decided_is_recorded_in_the_points_words() -> None:
    recorder = Recorder()
    gateway = Gateway.from_env({"DECISION_LOG": "off"}, observers=[recorder])
    _wrapped(gateway, Host())(MESSAGE)
    (record,) = recorder.records
    assert record.outcome == FOUND.kinds


def test_ask_takes_the_extraction_from_its_current(gateway: Gateway) -> None:
    host = Host()
    with gateway.override({"PARTS": scripted("remark")}):
        decision = gateway.ask_sync(POINT, MESSAGE, current=host)
    assert decision.value == Parts(FOUND.texts, {"part_1": "remark", "part_2": "remark"}, 0.9)
    assert host.runs == 1


def test_a_state_that_holds_the_extraction_is_asked_as_it_is(gateway: Gateway) -> None:
    with gateway.override({"PARTS": scripted("remark")}):
        decision = gateway.consult_sync(POINT, {"text": MESSAGE, "parts": ["see my bill"]})
    assert decision is not None
    assert decision.value == "remark"


def test_without_any_extraction_nobody_is_asked(gateway: Gateway) -> None:
    found: list[Any] = [None]
    point = msgspec.structs.replace(POINT, hybrid=Hybrid(lambda _: None, _extend, _merge))
    decider = scripted("remark")

    @gateway.point(point)
    def parts(text: str) -> Any:  # noqa: ARG001
        return found[0]

    with gateway.override({"PARTS": decider}):
        assert parts(MESSAGE) is None
    assert decider.asked == []


def test_what_the_state_knows_completes_an_extraction(gateway: Gateway) -> None:
    def complete(state: Mapping[str, Any], parts: Parts) -> Parts:
        return msgspec.structs.replace(parts, texts=(*parts.texts, state["text"][-4:]))

    hybrid = Hybrid(_read, _extend, _merge, complete=complete)
    point = msgspec.structs.replace(POINT, hybrid=hybrid)
    with gateway.override({"PARTS": scripted("remark")}):
        decision = gateway.ask_sync(point, MESSAGE, current=Host(Parts(("see my bill",))))
    assert decision.value.texts == ("see my bill", "fast")


@pytest.mark.parametrize(("write", "fits"), [(None, False), (str, True)])
def test_a_return_type_that_holds_no_extraction_is_a_fault_at_start(
    gateway_of: Gateways, write: Any, *, fits: bool
) -> None:
    gateway = gateway_of({"DECISION_PARTS_PROVIDER": "local"})

    @gateway.point(POINT, write=write)
    def parts(text: str) -> str:
        return text

    if fits:
        gateway.check()
        return
    with pytest.raises(SetupError, match="cannot hold what is extracted"):
        gateway.check()


def test_asked_without_its_extraction_a_hybrid_says_where_it_comes_from() -> None:
    with pytest.raises(DeclarationError, match="comes from what `current` extracts"):
        POINT.ask({"text": MESSAGE})
