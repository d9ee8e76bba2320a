"""The environments of the peers: where their programs are, their versions, and how to make them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PINNED = Path(__file__).with_name("peers.txt")
NPM = "npm"


class AbsentError(Exception):
    """A contestant cannot take part; its text is the reason, in a few words."""


class Peer(NamedTuple):
    """One line of `peers.txt`."""

    folder: str
    installer: str
    packages: tuple[str, ...]


def pinned(text: str) -> list[Peer]:
    """Read the lines of `peers.txt`."""
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return [Peer(line[0], line[1], tuple(line[2:])) for line in lines if line]


def program(peers: Path | None, folder: str, name: str) -> Path:
    """
    Find a program of a contestant; an empty *folder* is the project's own environment.

    Raises:
        AbsentError: It is not there.

    """
    if not folder:
        found = Path(sys.executable).parent / Path(name).name
    elif peers is None:
        raise AbsentError("not installed: no folder of peers was given")
    else:
        found = peers / folder / name
    if not found.exists():
        raise AbsentError("not installed")
    return found.absolute()


def version_in(peers: Path | None, folder: str, package: str) -> str:
    """Tell which version of a distribution, or of an npm package, is installed there."""
    if folder == NPM:
        told = program(peers, folder, f"node_modules/{package}/package.json").read_text("utf-8")
        return str(json.loads(told)["version"])
    code = f"from importlib.metadata import version; print(version({package!r}))"
    python = program(peers, folder, "bin/python")
    command = [str(python), "-c", code]
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    return asked.stdout.strip()


def install(folder: Path) -> None:
    """Install every peer below *folder*; one that fails is told and leaves the others be."""
    for peer in pinned(PINNED.read_text("utf-8")):
        place = folder / peer.folder
        place.mkdir(parents=True, exist_ok=True)
        commands = _npm(place, peer) if peer.installer == NPM else _pip(place, peer)
        failed = any(subprocess.run(command, check=False).returncode for command in commands)
        print(f"{peer.folder}: {'FAILED' if failed else 'installed'}", flush=True)


def _npm(place: Path, peer: Peer) -> list[list[str]]:
    return [["npm", "install", "--silent", "--prefix", str(place), *peer.packages]]


def _pip(place: Path, peer: Peer) -> list[list[str]]:
    pip = [str(place / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    return [
        [sys.executable, "-m", "venv", str(place)],
        [*pip, "install", "--quiet", *peer.packages],
    ]
