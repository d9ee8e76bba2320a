"""
What those say to each other who deliberate: a provider that is heard, a provider that writes.

A decider answers typed questions. Whoever argues, criticises or sums up writes more than that: one
JSON object of a form that the asker names. A provider that can do so has a method `write`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from .answers import Reply, Usage, sound
from .errors import NoAnswer, Reason
from .state import State, frozen

if TYPE_CHECKING:
    from .exchanging import HttpRequest, HttpResponse
    from .plugins import Call
    from .questions import Ask, Question
    from .records import Attempt


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a writer is to write: one JSON object that fits a schema.

    The state is frozen at birth, as an ask's is: `text` is what writers are sent.

    Attributes:
        task: One word of ours for what is written: `position`, `critique`.
        instructions: The programmer's words; never what users said.
        state: What it is about: data, never instructions.
        schema: JSON schema of the object: closed, every property required.
        role: Who speaks.
        round: Of the deliberation, from 1; 0 before or outside of its rounds.
        questions: Where typed questions are asked of what can only write; else None.
        max_tokens: Most tokens that may be written; None: the writer's own bound.
        text: The state as one string: text as it is, anything else as canonical JSON; made here.

    Raises:
        NoJson: The state is no JSON.

    """

    task: str
    instructions: str
    state: State
    schema: Mapping[str, Any]
    role: str = ""
    round: int = 0
    questions: Mapping[str, Question] | None = None
    max_tokens: int | None = None
    text: str = ""

    def __post_init__(self) -> None:
        state, text = frozen(self.state)
        msgspec.structs.force_setattr(self, "state", state)
        msgspec.structs.force_setattr(self, "text", text)


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a writer wrote, as it was written.

    Attributes:
        text: The JSON object, without thoughts and fences around it; nobody has read it yet.
        model: The model that wrote it, as served.
        usage: Tokens and money, where known.
        request_id: The provider's own id of the request.

    """

    text: str
    model: str = ""
    usage: Usage | None = None
    request_id: str | None = None


class Writer(Protocol):
    """
    A provider that writes, besides that it answers.

    `write` has one of three shapes: a generator of HTTP exchanges, as `exchange` of a provider
    is, bounded by `write_timeout`, else `timeout`, and `attempts`; a coroutine; or an asynchronous
    generator, each of whose values replaces the former, so that a part is there before the whole.
    """

    def write(
        self, draft: Draft, call: Call
    ) -> Generator[HttpRequest, HttpResponse, Written] | AsyncIterator[Written] | Any:  # noqa: ANN401 - a coroutine of `Written`
        """
        Write what *draft* says.

        Raises:
            NoAnswer: And nothing else.

        """
        ...


class Voices(Protocol):
    """Who can be heard by name, past every plan, by whoever deliberates."""

    async def hear(self, name: str, ask: Ask, *, within: Call) -> Attempt:
        """Ask one provider, through its own limits; what it said, or why it said nothing."""
        ...

    async def write(
        self,
        name: str,
        draft: Draft,
        *,
        within: Call,
        partial: Callable[[Written], None] | None = None,
    ) -> Written:
        """Let one provider write, through its own limits; `NoAnswer` where it did not."""
        ...

    def can_write(self, name: str) -> bool:
        """Whether the provider of this name writes."""
        ...

    def knows_provider(self, name: str) -> bool:
        """Whether there is a provider of this name."""
        ...


def writes(provider: object) -> bool:
    """Whether *provider* can be let write."""
    return callable(getattr(provider, "write", None))


def legible(written: object) -> Written:
    """
    Keep of what a stranger's writer gave what is of the declared types.

    Raises:
        NoAnswer: `malformed`: it is nothing written.

    """
    if not isinstance(written, Written) or not isinstance(written.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise NoAnswer(Reason.MALFORMED)
    kept = receipt(written)
    return Written(
        text=written.text, model=kept.model, usage=kept.usage, request_id=kept.request_id
    )


def receipt(written: Written) -> Reply:
    """Give what *written* cost and who wrote it, as a reply without answers."""
    return sound(Reply({}, written.model, written.usage, written.request_id))
