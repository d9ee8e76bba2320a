"""The header of a protocol's transcript, and the same protocol again from it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import msgspec

from ....gateway.errors import SetupError
from ....gateway.plugins import Voices
from ..panel import Member
from ..replaying import Replay
from .closing import as_written, footer
from .deliberated import Deliberated
from .forms import Form
from .independent import independent
from .numeric import Numeric
from .packets import Packet, content_hash
from .single import cost_matched_single
from .structured import structured_debate
from .terms import Terms
from .typed import Typed

__all__ = ["header", "rerun_protocol"]


def header(  # noqa: PLR0913 - what a protocol is started with
    protocol: str,
    packet: Packet,
    panel: Sequence[Member],
    *,
    form: Form,
    voices: Voices,
    terms: Terms | None = None,
    k: int | None = None,
    texts: bool = False,
) -> dict[str, Any]:
    """
    Write the header of a transcript, so that it can be resumed, replayed and understood.

    Args:
        protocol: One of `PROTOCOLS`.
        packet: As the protocol is given it.
        panel: The same.
        form: The same.
        voices: Who reaches the members; the gateway.
        terms: The settings, as `Terms`; None: all as they are by default.
        k: Samples of a cost-matched arm.
        texts: The evidence is kept whole, not just its hash; then the file alone can be
            replayed.

    """
    skeptic = terms.skeptic if terms is not None and isinstance(terms.skeptic, Member) else None
    asked = {one.provider for one in (*panel, *([] if skeptic is None else [skeptic]))}
    if terms is not None and terms.skeptic_provider:
        asked.add(terms.skeptic_provider)
    return as_written(
        {
            "kind": "protocol",
            "protocol": protocol,
            "packet": content_hash(packet),
            "members": list(panel),
            "form": {"name": form.name, "given": msgspec.json.encode(form).decode()},
            "terms": terms or Terms(),
            "k": k,
            "writers": sorted(one for one in asked if voices.can_write(one)),
            "texts": packet if texts else None,
        }
    )


async def rerun_protocol(replay: Replay, packet: Packet | None = None) -> Mapping[str, Any]:
    """
    Run a protocol again on *replay*'s floor, by the transcript's header; give its footer.

    Args:
        replay: Of a transcript that `header` began.
        packet: The evidence, where the transcript holds only its hash.

    Raises:
        SetupError: The evidence is neither in the transcript nor given, or it is another's.
        Mismatch: Something is asked for now that the transcript does not hold.

    """
    told = replay.transcript.header
    form = _form(told["form"])
    done = await _again(replay, told, _packet(told, packet), form)
    return footer(done, form)


def _again(
    replay: Replay, told: Mapping[str, Any], packet: Packet, form: Form
) -> Awaitable[Deliberated]:
    panel = msgspec.convert(told["members"], list[Member])
    terms: Any = msgspec.structs.asdict(msgspec.convert(told["terms"], Terms))
    floor = replay.floor()
    if told["protocol"] == "cost_matched_single":
        k = told["k"] or (replay.transcript.footer or {}).get("expected")
        return cost_matched_single(packet, panel, floor, form=form, k=k, **terms)
    if told["protocol"] == "independent":
        return independent(packet, panel, floor, form=form, **terms)
    return structured_debate(packet, panel, floor, form=form, **terms)


def _packet(told: Mapping[str, Any], given: Packet | None) -> Packet:
    kept = told.get("texts")
    packet = msgspec.convert(kept, Packet) if given is None and kept is not None else given
    if packet is None:
        fix = "Give it: --about FILE, which holds its `subject` (an item's id) and its `state`"
        raise SetupError.of("the transcript", "it holds the evidence's hash alone", fix)
    if content_hash(packet) != told["packet"]:
        raise SetupError.of(
            "the evidence", "it is not what was deliberated on", "Name that: --about FILE"
        )
    return packet


def _form(told: Mapping[str, Any]) -> Form:
    """Read a form again; it is kept as text, because the order of options is part of it."""
    made: type[Form] = Typed if told["name"] == Typed.name else Numeric
    return msgspec.json.decode(told["given"], type=made)
