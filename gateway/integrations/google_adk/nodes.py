"""Function nodes of an ADK workflow: their options against the edges, and a person's answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.adk.events import RequestInput
from google.adk.workflow import DEFAULT_ROUTE, Workflow

from ...errors import Fault, HumanNeeded, raise_all
from ...questions import Choice, Predicate, Question
from ..words import BY_A_PERSON


def person_needed(
    needed: HumanNeeded, message: str = BY_A_PERSON, *, interrupt_id: str | None = None
) -> RequestInput:
    """
    Ask a person in a node, with ADK's own interrupt.

    Args:
        needed: What the decision point raised.
        message: What the person is told.
        interrupt_id: Under which the answer comes back in `ctx.resume_inputs`; absent: the
            name of the point.

    """
    return RequestInput(
        interrupt_id=interrupt_id or needed.point, message=message, response_schema=None
    )


def check_routes(workflow: Workflow, *nodes: Callable[..., Any]) -> None:
    """
    Check that every answer of wrapped function nodes has an edge, and every edge an answer.

    ADK does so for its `ClassifierNode`, not for functions: there a branch without an edge ends
    with a log line.

    Args:
        workflow: Its edges.
        nodes: Functions that `gateway.point` wraps.

    Raises:
        SetupError: An answer has no edge, or an edge is never taken.

    """
    raise_all(fault for node in nodes for fault in _faults(workflow, node))


def _faults(workflow: Workflow, node: Callable[..., Any]) -> list[Fault]:
    name = getattr(node, "__name__", repr(node))
    routes = _routes(workflow, name)
    answers = _answers(node)
    unknown = sorted(str(one) for one in routes - answers - {DEFAULT_ROUTE})
    unrouted = set() if DEFAULT_ROUTE in routes else answers - routes
    faults = [(f"no answer takes the edge {one!r}", "Correct the edge") for one in unknown]
    missing = [
        (f"the answer {one!r} has no edge", "Add one, or a `DEFAULT_ROUTE`")
        for one in sorted(str(one) for one in unrouted)
    ]
    return [Fault(name, problem, fix) for problem, fix in (*faults, *missing)]


def _routes(workflow: Workflow, node: str) -> set[object]:
    routes: set[object] = set()
    for edge in getattr(workflow.graph, "edges", ()):
        if edge.from_node.name == node:
            routes |= set(edge.route) if isinstance(edge.route, list) else {edge.route}
    return {DEFAULT_ROUTE if one is None else one for one in routes}


def _answers(node: Callable[..., Any]) -> set[object]:
    _, wrapped = getattr(node, "__pointsman__", (None, None))
    questions: list[Question] = (
        [] if wrapped is None else [*next(iter(wrapped.point.questions.values())).values()]
    )
    answers: set[object] = set()
    for question in questions:
        if isinstance(question, Choice):
            answers |= set(question.options)
        elif isinstance(question, Predicate):
            answers |= {True, False}
    return answers
