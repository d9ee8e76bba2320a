"""Where and when a race was run, as its page tells it."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path

from .cores import Cores


def facts(on: Cores) -> dict[str, str]:
    """Tell the machine, without its name or its folders."""
    if on.measured is None:
        placed = "not pinned: this system cannot"
    elif on.apart:
        placed = f"what is measured on core {on.measured}, upstream and load on core {on.load}"
    else:
        placed = f"all on core {on.measured}, the only one: the load takes its share of it"
    return {
        "Processor": f"{_processor()}, {os.cpu_count()} cores",
        "System": f"{platform.system()} {platform.release()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "Placed": placed,
        "Busy before": _load(),
        "Date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _load() -> str:
    if not hasattr(os, "getloadavg"):
        return "unknown"
    one, five, _ = os.getloadavg()
    return f"{one:.2f} processes on average in the last minute, {five:.2f} in the last five"
