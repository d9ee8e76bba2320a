"""One reply as many: each point of a shared call gets what is its own, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec

from ..answers import Chosen, RawAnswer, Reply, Scored, Usage, sound
from ..errors import NoAnswer, Reason
from .sharing import Joint

Pairs: TypeAlias = Sequence[tuple[Any, RawAnswer]]
FREE = Usage(0, 0, 0.0)


class Portion(msgspec.Struct, frozen=True, gc=False):
    """
    What one part gets of a reply.

    Attributes:
        reply: Its own answers under its own names, with its portion of tokens and cost.
        fault: Why its answers cannot be told from others'; None: acceptance will judge them.

    """

    reply: Reply
    fault: Reason | None = None


def divided(joint: Joint, reply: Reply, present: Sequence[bool]) -> list[Portion]:
    """
    Give each part its own answers, whatever acceptance will say of them.

    A strange answer is the fault of the point whose prefix it has, or of all.

    Args:
        joint: What was asked.
        reply: A sound one.
        present: Which parts somebody still waits for: tokens and cost are divided among them.

    """
    bills = billed(joint, reply, present)
    given: Any = reply.answers
    if isinstance(given, Mapping):
        return _dealt(joint, list(cast("Mapping[Any, RawAnswer]", given).items()), bills, dict)
    if not all(_is_pair(pair) for pair in given):
        return [Portion(bill, Reason.MALFORMED) for bill in bills]
    wire = list(joint.owners)
    if len(given) != len(wire) and not all(name for name, _ in given):
        few = len(given) < len(wire)  # nobody can tell whose are missing, or too many
        return [Portion(bill, Reason.INCOMPLETE if few else Reason.MISMATCHED) for bill in bills]
    return _dealt(joint, [(name or wire[at], raw) for at, (name, raw) in enumerate(given)], bills)


def _is_pair(pair: Any) -> bool:  # noqa: ANN401 - a stranger's
    if not isinstance(pair, tuple):
        return False
    given: tuple[Any, ...] = pair  # pyright: ignore[reportUnknownVariableType]
    return len(given) == 2 and (given[0] is None or isinstance(given[0], str))  # noqa: PLR2004


def _dealt(
    joint: Joint, pairs: Pairs, bills: Sequence[Reply], form: type[dict[Any, Any]] | None = None
) -> list[Portion]:
    """Deal the answers out by name; acceptance finds what is missing, repeated or misplaced."""
    own: list[list[tuple[str, RawAnswer]]] = [[] for _ in bills]
    mismatched: set[int] = set()
    for name, raw in pairs:
        if (owner := joint.owners.get(name) if isinstance(name, str) else None) is not None:
            own[owner[0]].append((owner[1], raw))
        else:
            mismatched.update(_concerned(joint, name))
    return [
        Portion(bill, Reason.MISMATCHED)
        if at in mismatched
        else Portion(msgspec.structs.replace(bill, answers=form(own[at]) if form else own[at]))
        for at, bill in enumerate(bills)
    ]


def _concerned(joint: Joint, name: object) -> Sequence[int]:
    """Who is concerned by a *name* that nobody asked for."""
    if isinstance(name, str):
        for prefix, parts in joint.prefixes.items():
            if name.startswith(prefix):
                return parts
    return range(len(joint.parts))


def billed(joint: Joint, reply: Reply, present: Sequence[bool]) -> list[Reply]:
    """Divide tokens, cost and notes, also of a call that failed; no answers yet."""
    usages = iter(_portions(reply.usage, sum(present)))
    notes = [_noted(joint, at, reply.notes) for at in range(len(joint.parts))]
    return [
        Reply(
            (), reply.model, next(usages) if here else None, reply.request_id, noted, reply.source
        )
        for here, noted in zip(present, notes, strict=True)
    ]


def _portions(usage: Usage | None, among: int) -> list[Usage | None]:
    """Divide evenly, so that the portions add up to the whole."""
    if usage is None or among == 0:
        return [None] * among
    inputs, outputs = _shares(usage.input_tokens, among), _shares(usage.output_tokens, among)
    costs = _sums(usage.cost_usd, among)
    return [
        Usage(inputs[at], outputs[at], costs[at], estimated=usage.estimated) for at in range(among)
    ]


def _shares(count: int, among: int) -> list[int]:
    least, rest = divmod(count, among)
    return [least + (at < rest) for at in range(among)]


def _sums(cost: float | None, among: int) -> list[float | None]:
    if cost is None:
        return [None] * among
    each = cost / among
    return [*[each] * (among - 1), max(0.0, cost - sum([each] * (among - 1)))]


def _noted(joint: Joint, at: int, notes: Mapping[str, float] | None) -> dict[str, float] | None:
    """Notes about a part's questions, under its own names; those about no part are everybody's."""
    if notes is None:
        return None
    own: dict[str, float] = {}
    for name, value in notes.items():
        wire = max((one for one in joint.owners if _about(name, one)), key=len, default=None)
        if wire is None and len(_concerned(joint, name)) == len(joint.parts):
            own[name] = value
        elif wire is not None and joint.owners[wire][0] == at:
            own[joint.owners[wire][1] + name.removeprefix(wire)] = value
    return own or None


def _about(note: str, wire: str) -> bool:
    return note == wire or note.startswith((f"{wire}.", f"{wire}:", f"{wire}_"))


# --- what a waiter is given --------------------------------------------------------------


def portions(joint: Joint | None, reply: object, present: Sequence[bool]) -> list[Portion]:
    """
    Divide what came back.

    Raises:
        NoAnswer: `malformed`: it is no reply at all.

    """
    whole = sound(reply)
    return [Portion(whole)] if joint is None else divided(joint, whole, present)


def bills(joint: Joint | None, fault: NoAnswer, present: Sequence[bool]) -> list[Portion]:
    """Divide what a failed call cost all the same."""
    if fault.reply is None:
        return []
    try:
        whole = sound(fault.reply)
    except NoAnswer:  # what came with a fault is no bill; the fault is told already
        return []
    return [Portion(one) for one in ([whole] if joint is None else billed(joint, whole, present))]


def again(fault: BaseException, bill: Reply | None) -> BaseException:
    """Make a new error for each waiter: a traceback grows with each raise."""
    if isinstance(fault, NoAnswer):
        why = fault.escalates
        return NoAnswer(fault.reason, operator=fault.operator, reply=bill, escalates=why)
    return fault


def taken(portion: Portion) -> Reply:
    """
    Give a portion's reply.

    Raises:
        NoAnswer: Its answers cannot be told from others'.

    """
    if portion.fault is not None:
        raise NoAnswer(portion.fault, reply=portion.reply)
    return portion.reply


def unpaid(reply: Reply) -> Reply:
    """Give *reply* as one that was known: it cost nothing, and no request was made for it."""
    return fresh(msgspec.structs.replace(reply, usage=None, request_id=None))


def spare(reply: Reply) -> Reply:
    """As `unpaid`, for a decision that has nothing to do with the one that paid: at no cost."""
    return fresh(msgspec.structs.replace(reply, usage=FREE, request_id=None))


def fresh(reply: Reply) -> Reply:
    """Copy what whoever gets *reply* could write into, since others get it too."""
    given: Any = reply.answers
    answers: Any
    if isinstance(given, Mapping):
        answers = {name: _own(raw) for name, raw in cast("Mapping[str, Any]", given).items()}
    else:
        answers = [(pair[0], _own(pair[1])) if _is_pair(pair) else pair for pair in given]
    return msgspec.structs.replace(reply, answers=answers)


def _own(raw: Any) -> Any:  # noqa: ANN401 - a stranger's
    if type(raw) is not Chosen and type(raw) is not Scored:
        return raw
    given: Any = raw.probabilities
    if type(given) is not dict and type(given) is not list:
        return raw
    return msgspec.structs.replace(raw, probabilities=given.copy())
