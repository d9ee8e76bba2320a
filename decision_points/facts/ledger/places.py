"""Where a SQLite file must not be: its locks do not hold across a network (RF-75)."""

from __future__ import annotations

import sys
from pathlib import Path

from ....gateway.errors import SetupError
from ....gateway.journal.addresses import WHERE

NETWORK = frozenset(
    {
        *("nfs", "nfs3", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "ncpfs", "afs", "davfs"),
        *("ceph", "lustre", "gpfs", "ocfs2", "gfs2"),
        *("fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse"),
    }
)
"""File systems that other machines see too, as Linux names them."""

MOUNTS = Path("/proc/self/mountinfo")
REMOTE = 4  # DRIVE_REMOTE of GetDriveTypeW


def on_network(path: Path, mounts: str) -> str:
    """
    Name the network file system that *path* is on; empty: it is on none that is known of.

    Args:
        path: Absolute, without links.
        mounts: What is mounted where, as Linux's `/proc/self/mountinfo` tells it.

    """
    if str(path).startswith(("//", "\\\\")):
        return "a share"
    found = ""
    longest = -1
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")[0]
        if len(fields) > 4:  # noqa: PLR2004 - the fifth field is where it is mounted
            point = Path(fields[4].encode().decode("unicode_escape"))
            depth = len(point.parts)
            if depth >= longest and (path == point or point in path.parents):
                found, longest = kind, depth
    return found if found in NETWORK else ""


def check(file: Path | None) -> None:
    """
    Refuse a file on a network.

    Raises:
        SetupError: It is on one.

    """
    if file is None:
        return
    path = Path(str(file.parent.resolve()) if not str(file).startswith("//") else str(file))
    kind = _drive(path) if sys.platform == "win32" else on_network(path, _mounts())
    if kind:
        problem = f"its file is on a network ({kind}), where SQLite's locks do not hold"
        raise SetupError.of(WHERE, problem, "Name a file on a local disk, or use PostgreSQL")


def _mounts() -> str:
    try:
        return MOUNTS.read_text("utf-8", "replace")
    except OSError:  # another system, which does not tell
        return ""


def _drive(path: Path) -> str:
    """Name what a drive letter stands for on Windows, if that is not this machine's."""
    if share := on_network(path, ""):
        return share
    if sys.platform == "win32":
        import ctypes

        if ctypes.windll.kernel32.GetDriveTypeW(path.anchor) == REMOTE:
            return "a network drive"
    return ""
