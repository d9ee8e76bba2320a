"""Facts that agents and people write down, and what they come to: what users hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self, Unpack

from ...gateway.errors import SetupError
from .entries import AnyEntry, Asserted
from .keeping import NOTHING, Rules
from .keys import FactKey
from .outcomes import Outcome
from .policy import Policy, policy_of
from .recalling import Recalling
from .registry import Registry, registry_of
from .stating import Statement, asserted, named, notes_of
from .times import now
from .values.texts import unfit

if TYPE_CHECKING:
    from .disputes import Disputes
    from .ledger.ledger import Ledger, Progress
    from .ledger.loading import Loaded
    from .ledger.settings import Settings

WHERE = "the facts' database"
NEEDED = {
    "sqlalchemy": "sqlalchemy",
    "alembic": "alembic",
    "babel": "babel",
    "dateutil": "python-dateutil",
    "stdnum": "python-stdnum",
}
"""Module → the package that brings it, as pip knows it."""


class Written(NamedTuple):
    """
    What became of an assertion (RF-08).

    Attributes:
        id: Of the assertion; the same for the same content, whoever wrote it.
        key: Its fact.
        position: Where it is in the log.
        new: Whether it was not there before.
        notes: What its writer should know: `rank_ignored`, `unknown_source:<name>`.
        outcome: What the fact comes to with it.

    """

    id: str
    key: FactKey
    position: int
    new: bool
    notes: tuple[str, ...]
    outcome: Outcome


class FactStore(Recalling):
    """
    One namespace of facts in a database; safe for several threads and processes.

    Nothing is opened before its first use.

    Args:
        url: `sqlite:///path`, `postgresql://user@host/name`, or a SQLite file's path.
        policy: What is declared about attributes: a file, its tables, or a policy; None: what was
            adopted.
        registry: Who is ranked above whom: likewise.
        namespace: Whose facts.
        adopt: Adopt policy and registry where they differ from what was adopted.
        clock: Gives the time, in microseconds since the epoch.

    Raises:
        SetupError: The URL, the policy or the registry is faulty, or a library is missing. At
            first use: the rules are not those that were adopted; the file is on a network.

    """

    def __init__(
        self,
        url: str | Path,
        *,
        policy: Rules | Policy | None = None,
        registry: Rules | Registry | None = None,
        namespace: str = "default",
        adopt: bool = False,
        clock: Callable[[], int] = now,
    ) -> None:
        _installed()
        from ...gateway.journal.addresses import address
        from .ledger.ledger import Ledger

        if not namespace or unfit(namespace):
            raise SetupError.of("FACTS_NAMESPACE", "it is no name", "Write one that can be read")
        text = str(url)
        self._address = address(text if "://" in text else f"sqlite:///{text}")
        self._policy = None if policy is None else policy_of(policy)
        self._registry = None if registry is None else registry_of(registry)
        self._adopt = adopt
        self._clock = clock
        self._ledger = Ledger(self._address, namespace, clock)
        self._settled: object = None
        self.namespace = namespace

    @classmethod
    def from_env(
        cls, environ: Mapping[str, str] | None = None, *, clock: Callable[[], int] = now
    ) -> Self:
        """
        Make one as `DECISION_JOURNAL`, `FACTS_POLICY`, `FACTS_REGISTRY`, `FACTS_NAMESPACE` say.

        Raises:
            SetupError: One is missing or faulty.

        """
        from ...gateway.environment import Environment
        from .settings import facts_settings

        url = Environment.read(environ).values.get("DECISION_JOURNAL", "")
        given = facts_settings(environ)
        if url in {"", "off"}:
            fix = "Write sqlite:///path/to/journal.db or postgresql://user@host/name"
            raise SetupError.of("DECISION_JOURNAL", "facts need a database", fix)
        return cls(
            url,
            policy=given.policy,
            registry=given.registry,
            namespace=given.namespace,
            clock=clock,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; a later use opens new ones."""
        self._ledger.close()

    @property
    def missing(self) -> bool:
        """Whether there is no database, or none with facts; nothing is made by asking."""
        return not self._ledger.database.has_tables()

    @property
    def ledger(self) -> Ledger:
        """The log and what is worked out from it, ready for use."""
        if self._settled is None or self._settled != self._ledger.identity:
            self._settle()
        return self._ledger

    def _settle(self) -> None:
        """See to it that the rules hold, also in a file that came in the place of another."""
        from .ledger import opening, places

        if self._settled is not None and self._policy is None and self._registry is None:
            problem = "the file of these facts was taken away, and its rules with it"
            fix = "Put it back, or open it with a policy and a registry"
            raise SetupError.of(WHERE, problem, fix)
        places.check(self._address.file)
        self._ledger.forget()
        opening.settle(self._ledger, self._policy, self._registry, self._clock, adopt=self._adopt)
        self._ledger.bind()
        self._settled = self._ledger.identity

    @cached_property
    def disputes(self) -> Disputes:
        """What nothing decides between, and how it is settled."""
        from .disputes import Disputes

        return Disputes(self.ledger, assert_=self.assert_, clock=self._clock)

    # --- writing ---------------------------------------------------------------------------

    def entry(
        self,
        entity: str | FactKey,
        attribute: str = "",
        value: object = None,
        **said: Unpack[Statement],
    ) -> Asserted:
        """
        Make an assertion without writing it.

        Raises:
            Refused: It is no value, is ambiguous, or may not be written.

        """
        return self._made(self.ledger.settings(), (entity, attribute), value, said)

    def _made(
        self,
        settings: Settings,
        about: tuple[str | FactKey, str],
        value: object,
        said: Statement,
    ) -> Asserted:
        policy, qualifiers = settings.policy, said.get("qualifiers", NOTHING)
        return asserted(named(self.namespace, *about, qualifiers, policy), value, policy, said)

    def assert_(
        self,
        entity: str | FactKey,
        attribute: str = "",
        value: object = None,
        **said: Unpack[Statement],
    ) -> Written:
        """
        Write down what a source says about a fact.

        Args:
            entity: What it is about; or the fact's key.
            attribute: What is said of it.
            value: What it is; None where *kind* says that there is no value.
            **said: By whom, and all else: see `Statement`. The source is needed.

        Returns:
            What became of it; the same content again changes nothing (RF-08).

        Raises:
            Refused: It is no value, is ambiguous, or may not be written.
            StoreDown: The database cannot be reached; nothing was written.

        """

        def make(settings: Settings) -> Asserted:
            return self._made(settings, (entity, attribute), value, said)

        entry, done, settings = self.ledger.write(make)
        outcome = done.outcome
        if outcome is None:
            with self.view() as view:
                outcome = view.outcome(entry.assertion.key)
        notes = notes_of(entry.assertion, settings.registry, said)
        return Written(done.id, outcome.key, done.position, done.new, notes, outcome)

    def load(self, entries: Iterable[AnyEntry], *, progress: Progress | None = None) -> Loaded:
        """
        Write many entries, a thousand in a transaction.

        Args:
            entries: As `entry` makes them; what is refused keeps no other from being written.
            progress: Told after each transaction how many are done.

        Raises:
            StoreDown: The database cannot be reached; what was told as done is written.

        """
        return self.ledger.load(entries, progress=progress)


def _installed() -> None:
    """Make sure that the libraries are there, without loading any."""
    lacking = [package for module, package in NEEDED.items() if find_spec(module) is None]
    if lacking:
        problem = f"{', '.join(lacking)} is not installed"
        raise SetupError.of("pointsman.facts", problem, 'pip install "pointsman[facts]"')
