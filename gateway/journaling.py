"""From variables to what keeps and certifies: the journal behind a gateway, its certificates."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from . import certificates
from .errors import SetupError
from .masking import Mask, chained, loaded
from .register import Register

if TYPE_CHECKING:
    from .discovery import Plugins
    from .journal.journal import Journal, JournalSettings
    from .journal.store import Store
    from .settings import Settings
    from .telemetry import Telemetry

JOURNAL = "DECISION_JOURNAL"
EXTRA = 'Run: pip install "pointsman[journal]"'

Tell: TypeAlias = Callable[[str, str, Mapping[str, Any]], None]
Following: TypeAlias = "tuple[Kept | None, Journal | None]"


def register_of(settings: Settings, telemetry: Telemetry) -> Register | None:
    """
    Give the certificates that `DECISION_THRESHOLDS` names; None where it is unset.

    Raises:
        SetupError: The file cannot be read.

    """
    path = settings.globals.thresholds
    if path is None:
        return None
    return Register(certificates.read(path), telemetry.threshold_refused)


def journal_settings(settings: Settings) -> JournalSettings | None:
    """
    Read what the journal's variables say; None where nothing is kept.

    Raises:
        SetupError: The extra is not installed.

    """
    given = settings.globals
    if not given.journaled:
        return None
    try:
        from .journal.journal import JournalSettings
    except ImportError as error:
        problem = f"{error.name or 'a library'}, which the journal needs, is not installed"
        raise SetupError.of(JOURNAL, problem, EXTRA) from error
    key = None if given.journal_key is None else given.journal_key.get_secret_value()
    return JournalSettings(
        url=given.journal, content=given.journal_content, key=key, spool=given.journal_spool
    )


class Kept(msgspec.Struct, frozen=True):
    """
    What a gateway keeps, and where.

    Attributes:
        settings: Where, and how much.
        masks: Names of the masks that full texts go through; None: they are kept as they are.

    """

    settings: JournalSettings
    masks: tuple[str, ...] | None


def kept_by(settings: Settings, plugins: Plugins) -> Kept | None:
    """
    Read what is to be kept; None where nothing is.

    Raises:
        SetupError: The extra, or full content that nothing masks.

    """
    wanted = journal_settings(settings)
    if wanted is None:
        return None
    redacts = settings.globals.journal_content == "full" and settings.globals.journal_redact
    return Kept(wanted, tuple(_installed(plugins)) if redacts else None)


def journal_of(kept: Kept, plugins: Plugins, tell: Tell) -> Journal:
    """
    Make the journal of a gateway; it opens nothing before the first record.

    Args:
        kept: What is kept.
        plugins: Whose masks redact full texts.
        tell: Says events: level, name, fields.

    Raises:
        SetupError: Its address or key.

    """
    from .journal.journal import Journal

    mask = None if kept.masks is None else chained(list(_installed(plugins).values()))
    return Journal(kept.settings, mask=mask, tell=tell)


class Journals:
    """The journal of one gateway, also where its variables come to say something else."""

    def __init__(self) -> None:
        self._kept: Kept | None = None
        self._journal: Journal | None = None
        self._telemetry: Telemetry | None = None
        self._leaving: list[threading.Thread] = []

    def following(self, settings: Settings, plugins: Plugins) -> Following:
        """
        Make the journal that the variables ask for; the one that is there, if they say the same.

        Raises:
            SetupError: Its address, key or extra, or full content that nothing masks.

        """
        kept = kept_by(settings, plugins)
        if kept is None or kept == self._kept:
            return kept, None if kept is None else self._journal
        return kept, journal_of(kept, plugins, self._say)

    def take(self, following: Following | None, telemetry: Telemetry) -> Journal | None:
        """Let it take over; the one before writes what it has, beside."""
        before, self._telemetry = self._journal, telemetry
        self._kept, self._journal = following or (None, None)
        if before is not None and before is not self._journal:
            leaving = threading.Thread(target=before.close, name="pointsman-journal-leaving")
            self._leaving.append(leaving)
            leaving.start()
        return self._journal

    def close(self) -> None:
        """Let all of them write what they have."""
        if self._journal is not None:
            self._journal.close()
        while self._leaving:
            self._leaving.pop().join()

    def _say(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        """Say an event as the log is set now, also after it was set anew."""
        if self._telemetry is not None:
            self._telemetry.said(level, event, fields)


def store_of(settings: Settings) -> Store:
    """
    Open the journal's database for reading.

    Raises:
        SetupError: Nothing is kept, or the address or the extra is at fault.

    """
    wanted = journal_settings(settings)
    if wanted is None:
        raise SetupError.of(JOURNAL, "no journal is kept", "Set it, as in sqlite:///decisions.db")
    from .journal.store import Store

    return Store.open(wanted.url)


def _installed(plugins: Plugins) -> dict[str, Mask]:
    """
    Give every mask that is installed, by name.

    Raises:
        SetupError: None is: full texts would be kept as they are.

    """
    masks: dict[str, Mask] = {}
    for name, offer in sorted(plugins.masks.items()):
        try:
            masks[name] = loaded("DECISION_JOURNAL_CONTENT", offer)
        except SetupError:  # its extra is missing; another may be there
            continue
    if masks:
        return masks
    problem = "full texts are kept only masked, and no mask is installed"
    fix = 'Run: pip install "pointsman[pii]", or set DECISION_JOURNAL_REDACT=off to keep them plain'
    raise SetupError.of("DECISION_JOURNAL_CONTENT", problem, fix)
