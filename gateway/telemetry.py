"""
What is told of decisions: structlog events and observers.

Event names are constants with fields: `decision.made`, `decision.fallback`, `decision.failed`,
`decision.<provider>` for an ask that left the process, `decision.shadow` for one in the
background, `decision.shadow_starved`, `decision.threshold_refused`, `decision.not_sticky`,
`decision.operator_fault`, `decision.stands` for a call that was decided before and
`decision.not_standing` for a point whose decisions stand in this process only,
`decision.escalated`, `decision.resolved` and `decision.escalation_lost` for what waits for a
person, `decision.provider_bug`, `decision.observer_failed` and `decision.read_failed` for what a
plug-in or the host's own function raised, and `decision.setup` for what is odd about variables and
plug-ins. Those of the journal begin with `journal.`, those of the server with `server.`, those of
committees and debates with `deliberation.`, those of integrations with their framework's name:
`mcp.gate_failed`, `mcp.tool_failed`, `crewai.hook_failed`, `<framework>.tool_unknown` for a guarded
name that no tool has. No state, instruction, key, body or foreign message is ever a field.
"""

from __future__ import annotations

import sys
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import msgspec

from .errors import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence

    from .errors import Fault
    from .plugins import Observer
    from .records import Attempt, Record, Shadow
    from .resilience import Lane

R = TypeVar("R")

Renderer: TypeAlias = Literal["console", "json"]


class Telemetry:
    """
    The events and observers of one gateway.

    Attributes:
        observed: Whether anybody but the log wants to know.

    """

    def __init__(
        self,
        log: Literal["console", "json", "off"] | None,
        observers: Sequence[tuple[str, Observer]],
    ) -> None:
        self._log = log
        self._observers = observers
        self.observed = bool(observers)
        self._logger: Any = None
        self._unsticky: set[str] = set()

    def decided(self, record: Record) -> None:
        """Tell of a decision and of each attempt before it."""
        if self._log != "off":
            for attempt in record.attempts:
                answered = attempt.request_id is not None or attempt.usage is not None
                if answered and not attempt.cached:
                    self._event("info", f"decision.{attempt.provider}", _attempt(record, attempt))
            if record.fallback:
                self._event("warning", "decision.fallback", _attempt(record, record.attempts[0]))
            failed = not record.provider and not record.undecided
            self._event("info", "decision.failed" if failed else "decision.made", _made(record))
        self.observe(record)

    def observe(self, record: Record) -> None:
        """Tell the observers alone."""
        for name, observer in self._observers:
            self._observe(name, observer, record)

    def completed(self, record: Record) -> None:
        """Tell those who want it what a decision that was told already came to."""
        for name, observer in self._observers:
            if (told := getattr(observer, "completed", None)) is not None:
                self._observe(name, told, record)

    def operator_fault(self, lane: Lane, reason: Reason) -> None:
        """Tell that the operator must act; the fallback does not hide it."""
        said = {"provider": lane.name, "model": lane.model, "reason": reason.value}
        self._event("error", "decision.operator_fault", said)

    def provider_bug(self, provider: str, bug: BaseException) -> None:
        """Tell that a plug-in raised what it may not: type and place, never the message."""
        frames = traceback.extract_tb(bug.__traceback__)
        where = f"{frames[-1].name}:{frames[-1].lineno}" if frames else ""
        said = {"provider": provider, "error": type(bug).__name__, "where": where}
        self._event("error", "decision.provider_bug", said)

    def read_failed(self, point: str, error: Exception) -> None:
        """Tell that the host's value could not be read into the point's vocabulary."""
        self._event(
            "warning", "decision.read_failed", {"point": point, "error": type(error).__name__}
        )

    def shadowed(self, shadow: Shadow) -> None:
        """Tell how an ask in the background ended, and whether it agrees with what was decided."""
        attempt = shadow.attempt
        said = {
            "id": shadow.of,
            "point": shadow.point,
            "provider": shadow.provider,
            "model": attempt.model,
            "reason": attempt.reason.value,
            "confidence": round(attempt.confidence, 4),
            "agrees": None if shadow.outcome is None else shadow.outcome == shadow.beside,
            "duration_ms": round(attempt.seconds * 1000, 3),
        }
        self._event("info", "decision.shadow", said)
        for name, observer in self._observers:
            if (told := getattr(observer, "shadowed", None)) is not None:
                self._observe(name, told, shadow)

    def shadow_starved(self, point: str, starved: int) -> None:
        """Tell that shadows were not asked, at the first one and at every tenfold of it."""
        if starved == 10 ** (len(str(starved)) - 1):
            self._event("warning", "decision.shadow_starved", {"point": point, "starved": starved})

    def threshold_refused(self, point: str, question: str, provider: str, why: str) -> None:
        """Tell that a certified threshold is not applied; the next rule sets it."""
        said = {"point": point, "question": question, "provider": provider, "differs": why}
        self._event("warning", "decision.threshold_refused", said)

    def not_sticky(self, point: str) -> None:
        """Tell, once for each point, that a split draws lots where no subject is given."""
        if point not in self._unsticky:
            self._unsticky.add(point)
            self._event("warning", "decision.not_sticky", {"point": point})

    def said(self, level: str, event: str, fields: Mapping[str, Any]) -> None:
        """Tell what a part of the gateway that has events of its own says."""
        self._event(level, event, dict(fields))

    def setup(self, faults: Sequence[Fault]) -> None:
        """Tell what is odd, but no error."""
        for fault in faults:
            self._event("warning", "decision.setup", msgspec.structs.asdict(fault))

    def _observe(self, name: str, observer: Callable[[R], None], seen: R) -> None:
        try:
            observer(seen)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - its fault never reaches a decision
            said = {"plugin": name, "error": type(error).__name__}
            self._event("error", "decision.observer_failed", said)

    def _event(self, level: str, event: str, fields: dict[str, Any]) -> None:
        if self._log == "off":
            return
        if self._logger is None:
            console = self._log == "console" or (self._log is None and sys.stderr.isatty())
            self._logger = _logger("console" if console else "json")
        getattr(self._logger, level)(event, **fields)


def _made(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "point": record.point,
        "variant": record.variant,
        "provider": record.provider,
        "model": record.attempts[-1].model if record.attempts else "",
        "reason": record.reason.value,
        "confidence": round(record.confidence, 4),
        "undecided": record.undecided,
        "duration_ms": round(record.seconds * 1000, 3),
        "tokens": record.tokens,
        "cost_usd": record.cost_usd,
        "attempts": len(record.attempts),
        "cached": bool(record.attempts) and record.attempts[-1].cached,
    }


def _attempt(record: Record, attempt: Attempt) -> dict[str, Any]:
    usage = attempt.usage
    return {
        "id": record.id,
        "point": record.point,
        "provider": attempt.provider,
        "model": attempt.model,
        "reason": attempt.reason.value,
        "confidence": round(attempt.confidence, 4),
        "duration_ms": round(attempt.seconds * 1000, 3),
        "tokens": usage.input_tokens if usage is not None else 0,
        "cost_usd": usage.cost_usd if usage is not None else None,
        "request_id": attempt.request_id,
        "form": attempt.form,
    }


class _Stderr:
    """Writes to whatever `sys.stderr` is at that moment, one line a call."""

    def msg(self, line: str) -> None:
        try:  # noqa: SIM105 - `suppress` costs more than the write
            sys.stderr.write(line + "\n")
        except (OSError, ValueError, AttributeError):  # closed, or none at all
            pass

    info = warning = error = msg


_encoder = msgspec.json.Encoder()


def _as_json(_: object, level: str, fields: MutableMapping[str, object]) -> str:
    fields["level"] = level
    fields["timestamp"] = datetime.now(UTC)
    return _encoder.encode(fields).decode()


def _stamped(
    _: object, level: str, fields: MutableMapping[str, object]
) -> MutableMapping[str, object]:
    fields["level"] = level
    fields["timestamp"] = datetime.now(UTC).isoformat(timespec="milliseconds")
    return fields


def _logger(renderer: Renderer) -> Any:  # noqa: ANN401 - structlog's proxy
    """Make our own logger; the host's configuration of structlog and logging is left alone."""
    import structlog

    processors: list[Any] = [_as_json]
    if renderer == "console":
        colours = sys.stderr is not None and sys.stderr.isatty()
        processors = [_stamped, structlog.dev.ConsoleRenderer(colors=colours)]
    return structlog.wrap_logger(
        _Stderr(),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(0),
    ).bind()
