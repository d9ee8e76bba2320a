"""What questions are called on a wire that does not take every name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ...gateway.questions import Ask

if TYPE_CHECKING:
    from ...gateway.answers import RawAnswer, Reply


class Names:
    """
    Renames what an endpoint would refuse, and gives the answers their own names back.

    Args:
        ids: What a question may be called, a regular expression; empty: anything.

    """

    def __init__(self, ids: str) -> None:
        self._fits = re.compile(ids).fullmatch if ids else None

    def sent(self, ask: Ask) -> Ask:
        """Give *ask* as it may be sent: itself, where every name may."""
        fits = self._fits
        if fits is None or all(map(fits, ask.questions)):
            return ask
        taken = set(ask.questions)
        spare = (name for at in range(2 * len(taken)) if (name := f"q{at}") not in taken)
        named = {name if fits(name) else next(spare): one for name, one in ask.questions.items()}
        # on the wire nothing waits for another answer
        free = {name: msgspec.structs.replace(one, when=None) for name, one in named.items()}
        return Ask(ask.state, free)

    def back(self, ask: Ask, sent: Ask, reply: Reply) -> Reply:
        """Give the *reply* to what was *sent* as the one to *ask*."""
        if sent is ask:
            return reply
        names = dict(zip(sent.questions, ask.questions, strict=True))
        # a name of ours that was replaced on the wire is no answer's to use
        strange = {name: f"{name} as answered" for name in set(ask.questions) - set(names)}
        return msgspec.structs.replace(reply, answers=_renamed(reply.answers, {**strange, **names}))


def _renamed(
    answers: Mapping[str, RawAnswer] | Sequence[tuple[str | None, RawAnswer]],
    names: Mapping[str, str],
) -> Mapping[str, RawAnswer] | Sequence[tuple[str | None, RawAnswer]]:
    if isinstance(answers, Mapping):
        return {names.get(name, name): answer for name, answer in answers.items()}
    return [(names.get(name or "", name), answer) for name, answer in answers]
