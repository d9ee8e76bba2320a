"""From variables, or providers of the host's, to what traces a gateway."""

from __future__ import annotations

import weakref
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeAlias

from ..errors import Fault, SetupError
from ..forks import Lock
from .names import SCOPE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from ..settings import Settings
    from ..telemetry import Telemetry
    from .metering import Meters
    from .tracing import Tracing

Trace: TypeAlias = "Callable[[Settings, Telemetry], Tracing | None]"
"""Makes what traces a gateway, each time its variables are read; None: nothing does."""

VARIABLE = "DECISION_OTEL"

_lock = Lock()
_shared: dict[None, Meters] = {}
_made: weakref.WeakKeyDictionary[MeterProvider, Meters] = weakref.WeakKeyDictionary()


def untraced(settings: Settings, telemetry: Telemetry) -> None:
    """Let nothing trace, whatever the variables say."""


def traced_by_variables(settings: Settings, telemetry: Telemetry) -> Tracing | None:
    """
    Trace with the providers that the process has, if `DECISION_OTEL` says so.

    Raises:
        SetupError: OpenTelemetry's API is not installed.

    """
    return tracing(settings, telemetry, where=VARIABLE) if settings.globals.otel else None


def lacking(settings: Settings) -> Sequence[Fault]:
    """List what `DECISION_OTEL` needs and is not installed."""
    if settings.globals.otel:
        try:
            import_module("opentelemetry.trace")
        except ImportError:
            return [_missing(VARIABLE)]
    return []


def _missing(where: str) -> Fault:
    fix = "Install the extra `otel`: pip install 'pointsman[otel]'"
    return Fault(where, "OpenTelemetry is not installed", fix)


def tracing(
    settings: Settings,
    telemetry: Telemetry,
    *,
    tracers: TracerProvider | None = None,
    meters: MeterProvider | None = None,
    content: bool = False,
    where: str = "instrument",
) -> Tracing:
    """
    Make what traces a gateway.

    Args:
        settings: May want content too.
        telemetry: Is told of the faults of tracers and exporters.
        tracers: Absent: the process's own, also one that is set later.
        meters: As *tracers*.
        content: Whether spans hold states, answers and subjects.
        where: Whose fault it is if there is no OpenTelemetry.

    Raises:
        SetupError: OpenTelemetry's API is not installed.

    """
    try:
        from opentelemetry import trace
    except ImportError:
        raise SetupError(_missing(where)) from None
    from .tracing import Tracing

    tracer = trace.get_tracer(SCOPE, version(SCOPE), tracers)
    shows = content or settings.globals.otel_content
    return Tracing(tracer, _metered(meters), telemetry.said, content=shows)


def _metered(provider: MeterProvider | None) -> Meters:
    """Give the instruments of *provider*, made once: it takes one observer of each gauge."""
    from opentelemetry import metrics

    from .metering import Meters

    with _lock:
        held = _shared.get(None) if provider is None else _made.get(provider)
        if held is None:
            held = Meters(metrics.get_meter(SCOPE, version(SCOPE), provider))
            if provider is None:
                _shared[None] = held
            else:
                _made[provider] = held
        return held
