"""
The control that every debate has to beat: one model, asked as often as the debate's money buys.

Independent samples, and a chain in which the first one is criticised and refined by its writer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import msgspec

from ....gateway.errors import DeclarationError
from ..floor import Floor
from ..measures.matching import cost_ratio, matched_k
from ..measures.points import mean, median
from ..panel import Member
from ..turns import Turn
from .briefs import Brief, Task
from .closing import ended
from .curtain import label
from .deliberated import Deliberated, spent
from .forms import Form
from .independent import opening
from .packets import Packet
from .sitting import REFINED, Sitting
from .stopping import StopReason
from .table import SELF, critiques_of, told
from .terms import Matching, Settings, Terms

__all__ = ["cost_matched_single", "samples_for"]

RATIOS = "ratios"


async def cost_matched_single(
    packet: Packet,
    member: Member | Sequence[Member],
    floor: Floor,
    *,
    form: Form,
    k: int | None = None,
    reference: Deliberated | None = None,
    **settings: Unpack[Settings],
) -> Deliberated:
    """
    Ask one member *k* times independently, and let it refine its first answer once.

    k + 2 calls, one less for a member that cannot write. The aggregate includes the refined
    answer; the comparators of record are its `samples_mean`, `samples_median` and `self_refine`.

    Args:
        packet: What it is about.
        member: Who is asked: one, or a panel of one.
        floor: Where it speaks; its transcript is closed at the end.
        form: What it answers in.
        k: Samples; None: as many as cost no more than *reference*, by `match`.
        reference: The debate that it is matched with; its ratios are recorded.
        **settings: The fields of `Terms`.

    Raises:
        DeclarationError: Not one member, no sample, neither *k* nor *reference*, or a setting
            out of range.
        CancelledError: The caller gave up; the transcript holds what was finished.
        Mismatch: The floor's transcript is of something else.

    """
    terms = msgspec.structs.replace(Terms(**settings), rounds=0)
    one = _only(member)
    if k is None and reference is not None:
        k = samples_for(reference, terms.match)
    if k is None or k < 1:
        raise DeclarationError("a cost-matched arm needs `k` samples, or a `reference` debate")
    names = [f"sample_{number:02d}" for number in range(1, k + 1)]
    panel = [msgspec.structs.replace(one, name=name) for name in names]
    sitting = Sitting(packet, panel, floor, form, terms, "cost_matched_single")
    sitting.note(f"k={k} samples of {one.name}, then self-critique and self-refine of the first")
    return await ended(sitting, _run(sitting, one), lambda done: _more(done, reference))


def _only(member: Member | Sequence[Member]) -> Member:
    if isinstance(member, Member):
        return member
    if len(member) != 1:
        raise DeclarationError(f"a cost-matched arm is of one member; got {len(member)}")
    return member[0]


async def _run(sitting: Sitting, member: Member) -> StopReason:
    await opening(sitting, tagged=True)
    first = next(iter(sitting.now().estimates), None)
    stop = sitting.check()
    if stop is not None or first is None:
        sitting.note("no self-refine chain: no valid sample, or nothing left to spend on it")
        return stop or StopReason.ERROR
    await _refine(sitting, msgspec.structs.replace(member, name=REFINED), first)
    if not sitting.asked(1):
        sitting.rounds = 0
        sitting.note("no self-refine chain: nothing left to spend on it")
    return sitting.cut or StopReason.MAX_ROUNDS


async def _refine(sitting: Sitting, member: Member, first: str) -> None:
    """Criticise the first valid sample, and answer again with that in view."""
    estimate, everything = sitting.now().estimates[first], sitting.seen(member)
    shown = sitting.form.shown(estimate, str, everything)
    row = {"member": label(0), "yours": True, **shown}
    critiques: list[Mapping[str, Any]] = []
    sitting.rounds = 1
    if sitting.can_write(member):
        [turn] = await sitting.step([_brief(sitting, "self_critique", member, row)])
        critiques = [{"from": SELF, **told(one, str, everything)} for one in critiques_of(turn)]
    sitting.rounds = 2
    brief = _brief(sitting, "self_refine", member, row)
    await sitting.step([msgspec.structs.replace(brief, critiques=critiques)])


def _brief(sitting: Sitting, task: Task, member: Member, row: Mapping[str, Any]) -> Brief:
    return Brief(
        task=task,
        member=member,
        packet=sitting.view(member),
        round=sitting.rounds,
        committee={"round": sitting.rounds, "members": [row]},
        max_tokens=sitting.terms.max_tokens,
    )


def _more(sitting: Sitting, reference: Deliberated | None) -> dict[str, Any]:
    """Keep samples and the refined answer apart, and say what both cost beside the debate."""
    return {"aggregate": _aggregate(sitting), "ratios": _recorded(sitting, reference)}


def _aggregate(sitting: Sitting) -> dict[str, Any]:
    form, estimates = sitting.form, dict(sitting.now().estimates)
    together = dict(form.aggregate(estimates, sitting.terms))
    refined = estimates.pop(REFINED, None)
    points = [one.point_estimate for one in estimates.values() if hasattr(one, "point_estimate")]
    if points:
        together |= {"samples_mean": mean(points), "samples_median": median(points)}
    else:
        together["samples"] = form.aggregate(estimates, sitting.terms)
    own = None if refined is None else getattr(refined, "point_estimate", form.plain(refined))
    return {**together, REFINED: own}


def _recorded(sitting: Sitting, reference: Deliberated | None) -> Mapping[str, float | None]:
    """Compare with the debate, where it is known or was when this was recorded."""
    transcript = sitting.floor.transcript
    if reference is None and transcript.recorded("verdict", RATIOS) is None:
        return {}
    ratios = {} if reference is None else _ratios(sitting.turns, reference)
    return transcript.entry("verdict", ratios, RATIOS)


def _ratios(turns: Sequence[Turn], reference: Deliberated) -> dict[str, float | None]:
    used = spent(turns)
    known = not used.unpriced and not reference.unpriced
    return {
        "calls": cost_ratio(used.calls, reference.calls),
        "tokens": cost_ratio(used.tokens, reference.tokens),
        "money": cost_ratio(used.cost_usd, reference.cost_usd) if known else None,
    }


def samples_for(debate: Deliberated, match: Matching = "calls", chain: float | None = None) -> int:
    """
    Find the number of samples that cost no more than *debate*, from what it was measured to cost.

    Args:
        debate: Whose calls, tokens or money are matched.
        match: Which of these.
        chain: What a self-refine chain costs in that unit; None: as one critique and one
            revision of the debate, which is a little more than it does. By calls it is 2.

    Raises:
        DeclarationError: Tokens or money are not known of all of its calls.

    """
    if match == "calls":
        return matched_k(debate.calls)
    sample = _mean(debate, "estimate", match)
    if not sample or (match == "money" and debate.unpriced):
        raise DeclarationError(f"what the debate cost in {match} is not known")
    if chain is None:
        chain = sum(_mean(debate, kind, match) or sample for kind in ("critique", "revision"))
    return matched_k(debate.tokens if match == "tokens" else debate.cost_usd, sample, chain)


def _mean(debate: Deliberated, kind: str, match: Matching) -> float:
    """Mean cost of one turn of a *kind*; estimates are those of round 0."""
    turns = [
        turn
        for turn in debate.turns
        if turn.kind == kind and turn.usage is not None and (kind != "estimate" or not turn.round)
    ]
    used = spent(turns)
    total = used.tokens if match == "tokens" else used.cost_usd
    return total / used.calls if used.calls else 0.0
