"""What a person types to start this very installation of the command."""

from __future__ import annotations

import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

NAME = "pointsman"


def command_name() -> str:
    """Give `pointsman` where the shell finds it, else its path, else Python's own way."""
    found = shutil.which(NAME)
    own = shutil.which(NAME, path=sysconfig.get_path("scripts"))
    if own is None:  # installed elsewhere, or run from a checkout that is not
        return NAME if found else f"{shlex.quote(_short(Path(sys.executable)))} -m {NAME}"
    same = found is not None and Path(found).samefile(own)
    return NAME if same else shlex.quote(_short(Path(own)))


def _short(path: Path) -> str:
    """Write *path* from here, where it lies below; a shell takes it only with a slash in it."""
    here = Path.cwd()
    if not path.is_relative_to(here):
        return str(path)
    below = path.relative_to(here)
    return str(below) if len(below.parts) > 1 else str(Path("./")) + f"/{below}"
