"""Metrics: decisions, fallbacks, latency, tokens, cost, shadow agreement, breakers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs opentelemetry-sdk")

from faulty import ASK, TEAM, Server, replies
from pointsman import Chosen, DecisionPoint, Gateway, NoAnswer, Reason, Reply, Usage, scripted
from pointsman.gateway.breaker import FAILURES
from pointsman.gateway.tracing.metering import MOST
from spanning import Seen, jev, seen
from trialling import Offers

__all__ = ["seen"]

BILLED = Reply({"team": Chosen("tech", None, 0.9)}, "billed-1", Usage(120, 3, 0.25), "req-7")
UNITS = {
    "pointsman.decisions": "{decision}",
    "pointsman.fallbacks": "{fallback}",
    "pointsman.decision.duration": "s",
    "pointsman.shadows": "{shadow}",
    "pointsman.shadow.agreement": "{shadow}",
    "pointsman.cost": "{USD}",
    "pointsman.breaker.open": "{breaker}",
    "gen_ai.client.operation.duration": "s",
    "gen_ai.client.token.usage": "{token}",
}


def provided(seen: Seen, provider: Any, **environ: str) -> Gateway:
    variables = {"DECISION_TEAM_PROVIDER": "one", **environ}
    return seen.gateway(variables, plugins=[Offers({"one": provider})])


def decide(gateway: Gateway, **given: Any) -> Any:
    return gateway.ask_sync("TEAM", ASK, **{"current": lambda: "tech", **given})


def labelled(point: Any) -> dict[str, Any]:
    return dict(point.attributes)


def test_decisions_are_counted_by_point_variant_provider_and_reason(seen: Seen) -> None:
    gateway = provided(seen, scripted("tech", Reason.REFUSED))
    decide(gateway)
    decide(gateway)

    kept, fell = seen.points("pointsman.decisions")
    assert (kept.value, fell.value) == (1, 1)
    assert labelled(kept) == {
        "pointsman.point": "TEAM",
        "feature_flag.result.variant": "one",
        "gen_ai.provider.name": "one",
        "pointsman.reason": "ok",
        "pointsman.undecided": False,
    }
    assert labelled(fell) == {
        **labelled(kept),
        "gen_ai.provider.name": "current",
        "pointsman.reason": "refused",
    }


def test_a_consultation_in_vain_is_counted_once(seen: Seen) -> None:
    """Also where the host says afterwards what current did."""
    gateway = provided(seen, scripted(Reason.REFUSED))

    handle = gateway.consultation("TEAM", ASK)
    handle.ask_sync()
    handle.observe("tech")

    assert [one.value for one in seen.points("pointsman.decisions")] == [1]
    assert [one.value for one in seen.points("pointsman.fallbacks")] == [1]


def test_fallbacks_are_counted_by_reason_of_who_was_not_believed(seen: Seen) -> None:
    gateway = provided(seen, scripted("tech", Reason.REFUSED, Reason.TRANSPORT))
    for _ in range(3):
        decide(gateway)

    assert [labelled(one) for one in seen.points("pointsman.fallbacks")] == [
        {
            "pointsman.point": "TEAM",
            "gen_ai.provider.name": "one",
            "pointsman.fallback.reason": reason,
        }
        for reason in ("refused", "transport")
    ]


def test_a_decision_that_nobody_made_is_counted_with_its_error(seen: Seen) -> None:
    gateway = provided(seen, scripted(Reason.AUTH), DECISION_FALLBACK_TO_CURRENT="false")
    with pytest.raises(NoAnswer):
        decide(gateway)

    (failed,) = seen.points("pointsman.decisions")
    assert labelled(failed)["error.type"] == "auth"
    assert "gen_ai.provider.name" not in labelled(failed)
    assert not seen.points("pointsman.fallbacks")


def test_latency_is_measured_of_decisions_and_of_asks_over_the_network(
    seen: Seen, server: Server
) -> None:
    server.does(replies(), replies({}, 500))
    gateway = seen.gateway(jev(server))
    made = decide(gateway)
    decide(gateway)

    whole = seen.points("pointsman.decision.duration")
    assert sum(one.count for one in whole) == 2
    good, bad = seen.points("gen_ai.client.operation.duration")
    assert labelled(good) == {
        "gen_ai.operation.name": "decide",
        "gen_ai.provider.name": "jev",
        "gen_ai.request.model": "typesafe-ai/jev",
        "gen_ai.response.model": made.attempts[0].model,
        "server.address": "127.0.0.1",
        "server.port": server.port,
    }
    assert labelled(bad)["error.type"] == "provider_error"
    assert good.sum == pytest.approx(made.attempts[0].seconds)
    assert good.explicit_bounds[:3] == pytest.approx((0.01, 0.02, 0.04))
    assert len(good.explicit_bounds) == 14


def test_a_provider_in_this_process_is_no_operation_of_a_client(seen: Seen) -> None:
    decide(provided(seen, scripted("tech")))

    assert not seen.points("gen_ai.client.operation.duration")
    assert seen.points("pointsman.decision.duration")


def test_tokens_and_money_are_counted_once(seen: Seen) -> None:
    """What a cache knows costs nothing."""
    gateway = provided(seen, scripted(BILLED), DECISION_TEAM_CACHE_SECONDS="60")
    decide(gateway)
    decide(gateway)

    tokens = seen.points("gen_ai.client.token.usage")
    kinds = {labelled(one)["gen_ai.token.type"]: (one.count, one.sum) for one in tokens}
    assert kinds == {"input": (1, 120), "output": (1, 3)}
    (cost,) = seen.points("pointsman.cost")
    assert cost.value == 0.25
    assert labelled(cost) == {"pointsman.point": "TEAM", "gen_ai.provider.name": "one"}


def test_what_is_asked_at_once_and_sent_once_is_one_ask(seen: Seen, server: Server) -> None:
    gateway = seen.gateway(jev(server, DECISION_TEAM_CACHE_SECONDS="60"))

    async def both() -> None:
        asked = (gateway.ask("TEAM", ASK, current=lambda: "none") for _ in range(2))
        await asyncio.gather(*asked)

    asyncio.run(both())

    assert len(server.seen) == 1
    assert [one.count for one in seen.points("gen_ai.client.operation.duration")] == [1]
    assert [one.value for one in seen.points("pointsman.decisions")] == [2]


def test_a_decision_that_stands_is_counted_once(seen: Seen) -> None:
    gateway = provided(seen, scripted("tech"))
    for _ in range(2):
        decide(gateway, subject="ana", once=("call-1", {"a": 1}))

    assert [one.value for one in seen.points("pointsman.decisions")] == [1]


def test_shadows_are_counted_by_whether_they_agree(seen: Seen) -> None:
    shadow = scripted("tech", "billing", Reason.TRANSPORT)
    gateway = seen.gateway({"DECISION_TEAM_SHADOW": "one"}, plugins=[Offers({"one": shadow})])
    for _ in range(3):
        decide(gateway)
    gateway.close()

    agreed = {
        labelled(one)["pointsman.shadow.agree"]: one.value
        for one in seen.points("pointsman.shadow.agreement")
    }
    assert agreed == {True: 1, False: 1}
    ended = {
        labelled(one)["pointsman.reason"]: one.value for one in seen.points("pointsman.shadows")
    }
    assert ended == {"ok": 2, "transport": 1}
    assert sum(one.value for one in seen.points("pointsman.decisions")) == 3


def test_an_open_breaker_is_seen_and_a_closed_one_too(seen: Seen) -> None:
    gateway = provided(seen, scripted(Reason.TRANSPORT))
    decide(gateway)
    (before,) = seen.points("pointsman.breaker.open")
    for _ in range(FAILURES):
        decide(gateway)

    (after,) = seen.points("pointsman.breaker.open")
    assert (before.value, after.value) == (0, 1)
    assert labelled(after) == {
        "gen_ai.provider.name": "one",
        "gen_ai.request.model": "scripted-1",
        "pointsman.lane": "live",
    }


def test_breakers_of_two_gateways_and_after_a_reload_are_seen(seen: Seen) -> None:
    """Instruments are made once for a provider, whatever looks at them."""
    first, second = (
        provided(seen, scripted("tech")),
        seen.gateway(
            {"DECISION_TEAM_PROVIDER": "two"}, plugins=[Offers({"two": scripted("tech")})]
        ),
    )
    second.reload()
    decide(first)

    named = {labelled(one)["gen_ai.provider.name"] for one in seen.points("pointsman.breaker.open")}
    assert named == {"one", "two"}

    first.uninstrument()
    named = {labelled(one)["gen_ai.provider.name"] for one in seen.points("pointsman.breaker.open")}
    assert named == {"two"}


def test_names_without_end_make_no_series_without_end(seen: Seen) -> None:
    """A client of a server may name points that nobody declared."""
    gateway = provided(seen, scripted("tech"))
    for number in range(MOST + 50):
        point = DecisionPoint(name=f"P{number}", questions={"en": {"team": TEAM}})
        gateway.ask_sync(point, ASK, current=lambda: "tech")

    series = seen.points("pointsman.decisions")
    assert len(series) == MOST + 1
    (other,) = [one for one in series if labelled(one)["pointsman.point"] == "other"]
    assert other.value == 50


def test_every_metric_has_its_unit(seen: Seen, server: Server) -> None:
    gateway = seen.gateway(
        jev(server, DECISION_TEAM_SHADOW="one"), plugins=[Offers({"one": scripted(BILLED)})]
    )
    decide(gateway)
    server.does(replies({}, 500))
    decide(gateway)
    gateway.close()

    assert {one.name: one.unit for one in seen.metrics()} == UNITS


def test_a_model_that_never_answered_is_no_label(seen: Seen, server: Server) -> None:
    """Only what was asked for is known; the answering one may be another."""
    server.does(replies({}, 500))
    decide(seen.gateway(jev(server)))

    (failed,) = seen.points("gen_ai.client.operation.duration")
    assert "gen_ai.request.model" in labelled(failed)
    assert "gen_ai.response.model" not in labelled(failed)


def test_strangers_names_take_no_place_of_what_is_declared(seen: Seen) -> None:
    """Clients of a server name points as they like; those come after many under one name."""
    gateway = seen.gateway({"DECISION_MINE_PROVIDER": "current"})
    for n in range(MOST + 5):
        gateway.ask_sync(f"STRANGER_{n}", ASK, current=lambda: "tech")
    for name in ("MINE", "ROUTER"):
        gateway.ask_sync(name, ASK, current=lambda: "tech")

    told = {labelled(one)["pointsman.point"] for one in seen.points("pointsman.decisions")}
    assert {"MINE", "ROUTER", "other"} <= told
    spans = {one.name for one in seen.spans}
    assert {"decide MINE", "decide ROUTER", "decide other"} <= spans
    assert f"decide STRANGER_{MOST + 4}" not in spans
