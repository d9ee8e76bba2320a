"""
The seam: what a provider is, and what a plug-in may offer.

One pluggy project, `pointsman`. The built-ins come through the same entry point as a
stranger's: `[project.entry-points.pointsman]`, a module with `@hookimpl` functions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import msgspec
import pluggy

from .environment import M, validated, variables_of
from .errors import DeclarationError, Fault, raise_all
from .exchanging import HttpRequest, HttpResponse
from .settings import Settings
from .writers import Draft, Voices, Writer, Written, writes

if TYPE_CHECKING:
    from .answers import Reply
    from .masking import MaskOffer
    from .points import DecisionPoint
    from .questions import Ask
    from .records import Decision, Record

__all__ = [
    "PROJECT",
    "Asynchronous",
    "Call",
    "Draft",
    "Hooks",
    "HttpRequest",
    "HttpResponse",
    "InProcess",
    "Limits",
    "Make",
    "Observer",
    "Offer",
    "Others",
    "OverHttp",
    "Provider",
    "Setup",
    "Voices",
    "Writer",
    "Written",
    "hookimpl",
    "hookspec",
    "writes",
]

PROJECT = "pointsman"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class Limits(msgspec.Struct, frozen=True):
    """
    What a provider takes; checked before anything is sent.

    Attributes:
        options: Most options of a choice.
        levels: Most levels of a score.
        questions: Most questions of one ask; None: no limit is known.
        characters: Longest state as text; None: no limit is known.

    """

    options: int = 255
    levels: int = 10
    questions: int | None = None
    characters: int | None = None


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """
    The circumstances of one ask; pass it on to nested asks as `within`.

    Attributes:
        point: Name of the decision point.
        subject: The unit that sticks to one arm of a split, if the host gave one.
        deadline: On the clock of `time.monotonic`, in seconds; None: none is set.
        depth: How many decisions this one is nested in.
        asking: The deliberating providers already entered.
        current: Runs what the host runs today, at most once per decision; the fallback reuses its
            result; awaitable where the host is async. None where there is none, and for a provider
            that runs on another thread, unless it declares `hears_current`.
        trial: Nothing that comes of it is acted on: it is asked in the background.
        sample: Which further sample of one question it is, which may differ; 0: it is none.

    """

    point: str
    subject: str | None = None
    deadline: float | None = None
    depth: int = 0
    asking: tuple[str, ...] = ()
    current: Callable[[], Any] | None = None
    trial: bool = False
    sample: int = 0


class Provider(Protocol):
    """
    What every provider says of itself. One of the three shapes below completes it.

    Optional attributes: `model` (as configured), `blocking` (True: more than 1 ms of CPU, run
    in a thread for async callers), `deliberates` (True: asks others, never entered twice in
    one decision), `hears_current` (True: it reads what the host's own path says, which then runs
    first for a caller without a loop), `doubts` (faults that are legal), `write` (see `Writer`),
    `close()`; for spans `url` (where it asks) and `dialect` (`openai` or `systemone`).
    """

    @property
    def name(self) -> str:
        """The name it was offered under, with its instance."""
        ...

    @property
    def limits(self) -> Limits:
        """What it takes."""
        ...


class InProcess(Provider, Protocol):
    """Answers where it stands."""

    def answer(self, ask: Ask, call: Call) -> Reply:
        """
        Answer *ask*.

        Raises:
            NoAnswer: And nothing else; map foreign errors at your edge.

        """
        ...


class OverHttp(Provider, Protocol):
    """
    Speaks HTTP without doing I/O: yields requests, is sent responses, returns the reply.

    `timeout` bounds all attempts together, in seconds; `attempts` counts the first one.
    """

    @property
    def timeout(self) -> float:
        """Seconds for all attempts together."""
        ...

    @property
    def attempts(self) -> int:
        """How often one request may be sent, at least 1."""
        ...

    def exchange(self, ask: Ask, call: Call) -> Generator[HttpRequest, HttpResponse, Reply]:
        """
        Answer *ask* by one or more exchanges.

        Raises:
            NoAnswer: And nothing else.

        """
        ...


class Asynchronous(Provider, Protocol):
    """Anything else that waits. Sync callers reach it through the gateway's loop thread."""

    async def answer(self, ask: Ask, call: Call) -> Reply:
        """
        Answer *ask*.

        Raises:
            NoAnswer: And nothing else.

        """
        ...


class Others(Voices, Protocol):
    """What a provider may reach besides itself, by name only: decision points, and who is heard."""

    async def ask(self, point: str, ask: Ask, *, within: Call | None = None) -> Decision[Any]:
        """Decide another point, nested in the call that *within* names."""
        ...

    def ask_sync(self, point: str, ask: Ask, *, within: Call | None = None) -> Decision[Any]:
        """As `ask`, on this thread."""
        ...


class Setup(msgspec.Struct, frozen=True):
    """
    What a provider is handed when it is made.

    Attributes:
        name: The name it was selected by, with its instance: `chat/fast`.
        settings: All variables; use `read` for your own.
        gateway: Reaches other providers and decision points by name.
        provider: Gives another one by name, also while the gateway is being made.

    """

    name: str
    settings: Settings
    gateway: Others
    provider: Callable[[str], Provider]

    def read(self, model: type[M]) -> M:
        """
        Validate this provider's variables with *model*.

        A field `timeout_seconds` of the provider `jev` is read from `JEV_TIMEOUT_SECONDS`, of
        `chat/fast` from `CHAT__FAST__TIMEOUT_SECONDS`, else `CHAT_TIMEOUT_SECONDS`. An alias
        is a variable's whole name.

        Raises:
            SetupError: With every fault, each naming its variable.

        """
        values = self.settings.variables.values
        faults: list[Fault] = []
        group: dict[str, str] = {}
        for name, field in model.model_fields.items():
            candidates = [field.alias] if field.alias else variables_of(self.name, name.upper())
            self.settings.read_of_providers.update(candidates)
            given = [one for one in candidates if one in values]
            group[field.alias or name] = (given or candidates)[0]
        read = validated(model, group, values, faults)
        raise_all(faults)
        return read


Make: TypeAlias = Callable[[Setup], Provider]
"""Makes a provider. It opens nothing; `setup.read` validates its variables."""

Observer: TypeAlias = Callable[["Record"], None]
"""
Is told of every decision that leaves a record, once. Where it has a method `shadowed`, that is told
of every `Shadow`; where it has a method `completed`, that is told the record again, of the same id,
once the host says what current did after a consultation in vain. Its faults never reach a decision.
"""


class Offer(msgspec.Struct, frozen=True):
    """
    A provider that a plug-in offers.

    Attributes:
        name: How variables name it; lower case, no `/`, `:` or `,`.
        load: Imports what is needed and returns what makes the provider. Runs when the
            provider is first selected, so that an installed plug-in costs an import nothing.
        extra: The extra to install when `load` meets an `ImportError`, as pip writes it.
        minimum: The least confidence, in [0, 1], from which it is believed where nobody says
            otherwise; None: that of all providers.

    Raises:
        DeclarationError: The minimum is no number in [0, 1].

    """

    name: str
    load: Callable[[], Make]
    extra: str = ""
    minimum: float | None = None

    def __post_init__(self) -> None:
        if self.minimum is not None and not 0 <= self.minimum <= 1:
            raise DeclarationError(f"{self.name}: its minimum is a number from 0 to 1")


class Hooks:
    """The hooks of Pointsman."""

    @hookspec
    def pointsman_providers(self) -> Iterable[Offer]:  # type: ignore[empty-body]
        """Offer providers."""

    @hookspec
    def pointsman_masks(self) -> Iterable[MaskOffer]:  # type: ignore[empty-body]
        """Offer masks for what leaves."""

    @hookspec
    def pointsman_points(self) -> Iterable[DecisionPoint]:  # type: ignore[empty-body]
        """Offer decision points."""

    @hookspec
    def pointsman_commands(self) -> Mapping[str, Callable[[], Any]]:  # type: ignore[empty-body]
        """Offer sub-commands: name → a function that returns a Typer app."""

    @hookspec
    def pointsman_tools(self) -> Mapping[str, Callable[..., Any]]:  # type: ignore[empty-body]
        """Offer tools for agents: name → a typed function with a docstring."""

    @hookspec
    def pointsman_observers(self) -> Iterable[Observer]:  # type: ignore[empty-body]
        """Observe decisions."""
