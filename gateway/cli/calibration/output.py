"""Files that a calibration writes: thresholds, a page, drawings; each whole or not at all."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ...certificates import Thresholds, read
from ...certificates import written as written_down
from ...errors import Fault, SetupError, raise_all
from ...evaluation.calibration.calibrating import merged
from ...evaluation.calibration.findings import Calibration
from .page import drawings, page_of

if TYPE_CHECKING:
    from ...evaluation.calibration.calibrating import Result


class Outputs(msgspec.Struct, frozen=True):
    """
    Where things go.

    Attributes:
        thresholds: The file of certificates; those of other keys stay in it.
        html: One page; None: none.
        svg: A folder for the drawings alone; None: none.
        replace: Agreement may take the place of gold.

    """

    thresholds: Path
    html: Path | None = None
    svg: Path | None = None
    replace: bool = False


def need_folders(outputs: Outputs) -> None:
    """
    Make sure that files have a folder to come to, before anything is asked or computed.

    Raises:
        SetupError: One is missing; none is made, since it may be a mistake in the path.

    """
    paths = {"--out": outputs.thresholds, "--html": outputs.html, "--svg": outputs.svg}
    raise_all(
        Fault(f"{option} {path}", "there is no such folder", "Make it, or correct the path")
        for option, path in paths.items()
        if path is not None and not path.resolve().parent.is_dir()
    )


def put(results: Sequence[Result], outputs: Outputs) -> list[Path]:
    """
    Write what was found; the file of thresholds first. Nothing where all was refused.

    Raises:
        SetupError: A file is none of ours, holds certificates that are worth more, or cannot be
            written.

    """
    made = [one for one in results if isinstance(one, Calibration)]
    if not made:
        return []
    thresholds = merged(_before(outputs.thresholds), results, replace=outputs.replace)
    written = [_whole(outputs.thresholds, written_down(thresholds), "--out")]
    if outputs.html is not None:
        written.append(_whole(outputs.html, page_of(made).encode(), "--html"))
    if outputs.svg is not None:
        outputs.svg.mkdir(exist_ok=True)
        for one in made:
            for name, drawing in drawings(one).items():
                _whole(outputs.svg / f"{_named(name)}.svg", drawing.encode(), "--svg")
        written.append(outputs.svg)
    return written


def _before(path: Path) -> Thresholds:
    if not path.exists():
        return Thresholds()
    try:
        return read(path, "--out")
    except SetupError as error:
        fix = "Nothing was written. Name another file with --out"
        raise SetupError.of("--out", error.faults[0].problem, fix) from None


def _named(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)


def _whole(path: Path, content: bytes, option: str) -> Path:
    """
    Write beside the file and put it in its place, so that nobody ever reads half of it.

    Raises:
        SetupError: It cannot be written.

    """
    target = path.resolve()
    beside = ""
    try:
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(beside).chmod(0o644)
        Path(beside).replace(target)
    except OSError as error:
        if beside:
            Path(beside).unlink(missing_ok=True)
        problem = f"it cannot be written ({error.strerror})"
        raise SetupError.of(f"{option} {path}", problem, "Name another place") from None
    return path
