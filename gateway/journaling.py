"""From variables to what keeps and certifies: the journal behind a gateway, its certificates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

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

Tell = Callable[[str, str, Mapping[str, Any]], None]


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


def journal_of(
    settings: Settings, plugins: Plugins, tell: Tell, before: Journal | None = None
) -> Journal | None:
    """
    Make the journal of a gateway; it opens nothing before the first record.

    Args:
        settings: The variables.
        plugins: Whose masks redact full texts.
        tell: Says events: level, name, fields.
        before: The gateway's journal so far, which goes on if the variables say the same.

    Raises:
        SetupError: Its address, key or extra, or full content that nothing masks.

    """
    wanted = journal_settings(settings)
    masks = settings.globals.journal_content == "full" and settings.globals.journal_redact
    if before is not None and wanted == before.settings:
        return before
    mask = _redacting(plugins) if wanted is not None and masks else None
    if wanted is None:
        return None
    from .journal.journal import Journal

    return Journal(wanted, mask=mask, tell=tell)


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


def _redacting(plugins: Plugins) -> Mask:
    """
    Give every mask that is installed, as one.

    Raises:
        SetupError: None is: full texts would be kept as they are.

    """
    masks: list[Mask] = []
    for offer in plugins.masks.values():
        try:
            masks.append(loaded("DECISION_JOURNAL_CONTENT", offer))
        except SetupError:  # its extra is missing; another may be there
            continue
    if masks:
        return chained(masks)
    problem = "full texts are kept only masked, and no mask is installed"
    fix = 'Run: pip install "pointsman[pii]", or set DECISION_JOURNAL_REDACT=off to keep them plain'
    raise SetupError.of("DECISION_JOURNAL_CONTENT", problem, fix)
