"""A server's decision goes on with the trace of its client."""

from __future__ import annotations

import pytest

pytest.importorskip("opentelemetry.sdk", reason="needs opentelemetry-sdk")

from opentelemetry.trace import format_span_id, format_trace_id

from pointsman import scripted
from served import TEAM, Running, asking, house_of
from spanning import Seen, parent, seen

__all__ = ["seen"]

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
HEADERS = {"traceparent": f"00-{TRACE}-{SPAN}-01", "baggage": "user=ana"}


def served(seen: Seen, *, traced: bool = True) -> Running:
    house = house_of({"DECISION_LOG": "off"}, told=scripted("tech"))
    if traced:
        seen.traces(house.gateway)
    return Running(house)


def test_a_decision_stands_below_the_span_of_its_client(seen: Seen) -> None:
    with served(seen) as server:
        assert server.openai(asking("told", TEAM), headers=HEADERS).status_code == 200

    (decision,) = [one for one in seen.spans if one.name.startswith("decide ")]
    assert decision.context is not None
    assert format_trace_id(decision.context.trace_id) == TRACE
    assert format_span_id(parent(decision) or 0) == SPAN


@pytest.mark.parametrize("headers", [{}, {"traceparent": "nonsense"}, {"traceparent": "00-é-é-01"}])
def test_who_sends_no_trace_begins_one(seen: Seen, headers: dict[str, str]) -> None:
    sent = {name: value.encode("latin-1") for name, value in headers.items()}
    with served(seen) as server:
        assert server.openai(asking("told", TEAM), headers=sent).status_code == 200

    (decision,) = [one for one in seen.spans if one.name.startswith("decide ")]
    assert parent(decision) is None


def test_a_trace_ends_with_its_request(seen: Seen) -> None:
    """The next request on the same connection is of nobody's trace."""
    with served(seen) as server:
        server.openai(asking("told", TEAM), headers=HEADERS)
        server.openai(asking("told", TEAM))

    parents = [parent(one) for one in seen.spans if one.name.startswith("decide ")]
    assert parents == [int(SPAN, 16), None]


def test_a_server_that_is_not_traced_takes_no_notice(seen: Seen) -> None:
    with served(seen, traced=False) as server:
        assert server.openai(asking("told", TEAM), headers=HEADERS).status_code == 200

    assert not seen.spans
