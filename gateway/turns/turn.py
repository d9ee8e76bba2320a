"""
One call per turn: what points ask together within one user turn, and what stays known in it.

`Asking` hands the steps of a turn's decisions to its `Sharing`, which knows what was asked
before, and puts the asks of one share group into one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

from .. import context
from ..current import path
from ..errors import SetupError
from ..making import Hosted
from ..points import DecisionPoint, find, suffix_of
from .promises import Cases, Made, Scope, promise, promise_sync
from .remembering import Sharing

if TYPE_CHECKING:
    from ..gateway import Gateway
    from ..records import Decision
    from ..state import State

MakeCase: TypeAlias = Callable[[str | DecisionPoint, Any, Hosted], Made]


class Turn(context.Session):
    """
    Lets points of one share group, asked inside, share a provider call; from `Gateway.turn`.

    For `with` and `async with`. Some frameworks enter it in one task and leave it in another.
    What was answered inside stays known until it is left: the same ask again costs nothing.

    Attributes:
        sharing: What its decisions share while it is entered.

    """

    def __init__(self, gateway: Gateway, subject: str | None, case: MakeCase) -> None:
        super().__init__(gateway, subject)
        self._gateway = gateway
        self._case = case
        self.sharing = Sharing()

    def __enter__(self) -> Self:
        if not self._entered:
            self._turn = self.sharing = Sharing()
        return super().__enter__()

    async def ask(
        self,
        *points: str | DecisionPoint,
        state: State,
        current: Mapping[str, Callable[[], Any]] | None = None,
    ) -> dict[str, Decision[Any]]:
        """
        Ask several points about one state; those of one group and provider in one call.

        Args:
            *points: Names or declarations; each is shown the fields that it reads.
            state: The union of those fields. A point whose field of words is absent takes
                the words from the field that its group sends them under.
            current: Point → what the host runs today, without arguments.

        Returns:
            Point, as it was given → decision. All have ended when it returns or raises.

        Raises:
            NoAnswer: A provider is not believed, and its plan has no fallback.
            SetupError: Nothing decides when a provider cannot; `current` names another point.

        """
        cases = self._cases(points, state, current or {})
        return await promise(cases, self._scope())

    def ask_sync(
        self,
        *points: str | DecisionPoint,
        state: State,
        current: Mapping[str, Callable[[], Any]] | None = None,
    ) -> dict[str, Decision[Any]]:
        """As `ask`, on this thread; a shared call ends with the earliest deadline."""
        return promise_sync(self._cases(points, state, current or {}), self._scope())

    def _scope(self) -> Scope:
        sharing = self.sharing if self._entered else Sharing()
        return Scope(self._owner, self._subject, sharing)

    def _cases(
        self,
        points: Sequence[str | DecisionPoint],
        state: State,
        current: Mapping[str, Callable[[], Any]],
    ) -> Cases:
        named = _named(points)
        if strange := sorted(current.keys() - named.keys()):
            fix = f"Name one of {', '.join(named)}"
            raise SetupError.of(strange[0], "`current` is given for a point that is not asked", fix)
        return {
            name: self._case(
                one,
                self._seen(one, state),
                Hosted(current=path(current.get(name)), subject=self._subject),
            )
            for name, one in named.items()
        }

    def _seen(self, point: str | DecisionPoint, state: State) -> State:
        """Give *state* with the words where the point looks for them."""
        known = find(suffix_of(point), self._gateway.points) if isinstance(point, str) else point
        if known is None or known.share is None or not isinstance(state, Mapping):
            return state
        fields, words = cast("Mapping[str, Any]", state), known.share.words
        if known.words in fields or words not in fields:
            return fields
        return {**fields, known.words: fields[words]}


def _named(points: Sequence[str | DecisionPoint]) -> dict[str, str | DecisionPoint]:
    """
    Give the points by name; one may be said twice.

    Raises:
        SetupError: Two declarations have one name.

    """
    named: dict[str, str | DecisionPoint] = {}
    for one in points:
        name = one if isinstance(one, str) else one.name
        known = named.setdefault(name, one)
        if known is not one and not (isinstance(known, str) and isinstance(one, str)):
            fix = "Ask one of them, or call one by another name: `point.called(…)`"
            raise SetupError.of(name, "two declarations of one name are asked at once", fix)
    return named
