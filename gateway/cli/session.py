"""What the sub-commands share: the variables, and the gateway that reads them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from ..environment import Environment
from ..errors import Fault, SetupError
from ..gateway import Gateway
from ..plugins import Observer
from ..points import DecisionPoint, suffix_of
from ..settings import PREFIX, Settings
from .beside import HERE, takes
from .programs import imported

LOG = f"{PREFIX}LOG"
ENV_FILE = Path(".env")


@dataclass
class Session:
    """
    The global options of one invocation; the `obj` of every sub-command's `typer.Context`.

    Attributes:
        env_file: The file of variables, if one is read.
        app: `module:gateway` of a user's own program, if one was named.
        options: Variable → the option of this command that stands for it.
        lent: Variable → what it was before a program was lent another value; None: unset.

    """

    env_file: Path | None = None
    app: str | None = None
    options: dict[str, str] = field(default_factory=dict[str, str])
    lent: dict[str, str | None] = field(default_factory=dict[str, str | None])

    @contextmanager
    def by_option(
        self, variables: Mapping[str, tuple[str, str]], *, keeps: bool = True
    ) -> Generator[Gateway]:
        """
        Lend the gateway of a command whose options stand for *variables*.

        Where it *keeps* what is decided and no variable says where, that is a file beside the
        project.

        Raises:
            SetupError: With the option named where it is at fault, and not its variable.

        """
        try:
            with contextlib.closing(self.gateway(variables, keeps=keeps)) as gateway:
                yield gateway
        except SetupError as error:
            raise SetupError(*map(self._named, error.faults)) from None
        finally:
            self._take_back()

    def _named(self, fault: Fault) -> Fault:
        option = self.options.get(fault.where)
        return fault if option is None else replace(fault, where=option)

    def gateway(
        self, variables: Mapping[str, tuple[str, str]] | None = None, *, keeps: bool = True
    ) -> Gateway:
        """
        Make the gateway, or import the one of the user's program.

        Args:
            variables: Variable → value and the option that it was given by.
            keeps: What is decided is kept, beside the project if no variable says where.

        Raises:
            SetupError: With every fault of the variables, or of `--app`.

        """
        given = variables or {}
        self.options = {name: option for name, (_, option) in given.items()}
        over = {name: value for name, (value, _) in given.items()}
        self._take_back()
        read = Environment.read(None, self.env_file)
        if LOG not in read.values:
            over[LOG] = "off"  # a person looks at tables; events between them are noise
        # in a folder that takes nothing, a journal that nobody asked for is no reason to stop
        if keeps and f"{PREFIX}JOURNAL" not in read.values and takes():
            over.setdefault(f"{PREFIX}JOURNAL", HERE)
        if self.app is None:
            settings = Settings.read({**os.environ, **over}, self.env_file)
            return Gateway(settings, stand_in=True)
        self._lend_all(read.values, over)
        return imported(self.app)

    def served(self, over: Mapping[str, str], observers: Sequence[Observer]) -> Gateway:
        """
        Make the gateway of a server, or take over the one of the user's program; its log is on.

        Args:
            over: Variables that hold whatever else says so; they stay lent to a program.
            observers: Are told of every decision.

        Raises:
            SetupError: With every fault of the variables, or of `--app`.

        """
        if self.app is None:
            environ = {**os.environ, **over}
            return Gateway.from_env(environ, self.env_file, observers=observers, stand_in=True)
        self._lend_all(Environment.read(None, self.env_file).values, over)
        try:
            gateway = imported(self.app)
            gateway.take_over(observers)
        except SetupError:
            self._take_back()
            raise
        return gateway

    def reload(self, gateway: Gateway, over: Mapping[str, str]) -> None:
        """
        Read the variables again, those of a file too, for a gateway that `served` made.

        Raises:
            SetupError: Something is wrong; then nothing changes.

        """
        if self.app is not None:
            self._take_back()
            self._lend_all(Environment.read(None, self.env_file).values, over)
        gateway.reload()

    def _lend_all(self, read: Mapping[str, str], over: Mapping[str, str]) -> None:
        self._lend({name: value for name, value in read.items() if name not in os.environ})
        self._lend(over)

    def _lend(self, variables: Mapping[str, str]) -> None:
        """Set what the program reads itself, while it is imported or reloaded."""
        for name, value in variables.items():
            self.lent.setdefault(name, os.environ.get(name))
            os.environ[name] = value

    def _take_back(self) -> None:
        for name, value in self.lent.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        self.lent.clear()

    @property
    def own(self) -> bool:
        """Whether the gateway is the command's own, with a stand-in for `current`."""
        return self.app is None

    def origin(self, gateway: Gateway, variable: str) -> str:
        """Say where *variable* was set: an option, a file, the environment; empty if nowhere."""
        if variable in self.options:
            return self.options[variable]
        origin = gateway.settings.variables.origins.get(variable, "")
        filed = origin == "environment" and not self.own and self._from_file(variable)
        return str(self.env_file) if filed else origin

    def _from_file(self, variable: str) -> bool:
        return Environment.read({}, self.env_file).values.get(variable) == os.environ.get(variable)


def readable(env_file: Path) -> Path:
    """
    Make sure that a file of variables can be read.

    Raises:
        SetupError: It is missing, no regular file, not UTF-8, or not ours to read.

    """
    fix = "Correct it, or name another file with --env-file"
    if not env_file.exists():
        raise SetupError.of(str(env_file), "there is no such file", fix)
    if not env_file.is_file():  # a pipe could be read only once, and is read more often
        raise SetupError.of(str(env_file), "it is no regular file", fix)
    try:
        env_file.read_text("utf-8")
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
        raise SetupError.of(str(env_file), problem, fix) from None
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 (byte {error.start})"
        raise SetupError.of(str(env_file), problem, fix) from None
    return env_file


def default_env_file() -> Path | None:
    """Give `.env`, where there is one."""
    return ENV_FILE if ENV_FILE.is_file() else None


def chosen(point: str, provider: str | None, language: str | None) -> dict[str, tuple[str, str]]:
    """Write `--provider` and `--language` as the variables that they stand for."""
    given: dict[str, tuple[str, str]] = {}
    if provider is not None:
        given[f"{PREFIX}{suffix_of(point)}_PROVIDER"] = (provider, "--provider")
    if language is not None:
        given[f"{PREFIX}LANGUAGE"] = (language, "--language")
    return given


def heeded(gateway: Gateway, point: DecisionPoint, provider: str | None) -> None:
    """
    Make sure that `--provider` was understood.

    Raises:
        SetupError: The program's gateway does not read the environment.

    """
    if provider is not None and gateway.plan(point).provider != provider:
        problem = "the program's gateway does not take its variables from the environment"
        raise SetupError.of("--provider", problem, "Use `Gateway.from_env()`, or leave it out")
