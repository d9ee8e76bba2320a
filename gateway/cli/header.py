"""What made a file of results: digests of everything that could change a line of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ..environment import variables_of
from ..settings import CURRENT
from .results import Header

if TYPE_CHECKING:
    from ..gateway import Gateway
    from ..questions import Ask
    from .target import Target

SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD")  # a new key decides nothing else


def header_of(
    gateway: Gateway, target: Target, ask: Ask, file: Path, columns: tuple[str, str | None]
) -> Header:
    """Say what a run of *target* over *file* depends on; *ask* is that of its first row."""
    plan = gateway.plan(target.point)
    behind = _stand_in(gateway)
    return Header(
        input=_digest(file.read_bytes()),
        rows=_digest(msgspec.json.encode(columns)),
        point=target.point.name,
        questions=_digest(msgspec.json.encode((dict(ask.questions), target.options))),
        plan=_digest(
            msgspec.json.encode((plan.provider, plan.gate, plan.fallback, plan.deadline, behind))
        ),
        variables=_variables(gateway, {plan.provider, *behind}),
    )


def _stand_in(gateway: Gateway) -> tuple[str, ...]:
    """Name who stands in for `current`; nobody does in a user's own program."""
    return (gateway.provider(CURRENT).name,) if gateway.stands_in else ()


def _variables(gateway: Gateway, providers: Iterable[str]) -> dict[str, str]:
    """Digest the providers' variables; one that names files counts with their content."""
    values = gateway.settings.variables.values
    prefixes = tuple(
        prefix for name in providers if name != CURRENT for prefix in variables_of(name, "")
    )
    return {
        name: _digest(b"\0".join((value.encode(), *_content(value))))
        for name, value in sorted(values.items())
        if name.startswith(prefixes) and not any(word in name for word in SECRET)
    }


def _content(value: str) -> Iterable[bytes]:
    path = Path(value)
    if path.is_file():
        return [path.read_bytes()]
    if path.is_dir():
        return [one.read_bytes() for one in sorted(path.iterdir()) if one.is_file()]
    return []


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
