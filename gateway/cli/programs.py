"""The user's own program: the gateway that `--app` names, imported."""

from __future__ import annotations

import contextlib
import importlib
import sys
import traceback
from pathlib import Path
from types import ModuleType

from ..errors import SetupError
from ..gateway import Gateway

SUFFIX = ".py"


def imported(app: str) -> Gateway:
    """
    Import the program, and give its gateway.

    Args:
        app: `module:gateway`; the module by its dotted name, looked for in this folder too.

    Raises:
        SetupError: It is not of that form, cannot be imported, or is no gateway.

    """
    name, attribute = _parts(app)
    before = name in sys.modules
    module = _module(name)
    found: object = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if isinstance(found, Gateway):
        if before:  # it read its variables then, and this command has set others
            found.reload()
        return found
    there = [key for key, value in vars(module).items() if isinstance(value, Gateway)]
    hint = f"It has: {', '.join(there)}" if there else "Make one there with `Gateway.from_env()`"
    raise SetupError.of("--app", f"{attribute!r} of {name} is no Gateway", hint)


def _parts(app: str) -> tuple[str, str]:
    name, _, attribute = app.partition(":")
    if name.endswith(SUFFIX):
        wanted = f"{Path(name).stem}:{attribute or 'gateway'}"
        where = "" if Path(name).name == name else f", in the folder {str(Path(name).parent)!r}"
        problem = f"{name!r} is a file, and a module is wanted"
        raise SetupError.of("--app", problem, f"Write {wanted}{where}")
    if not name or not attribute:
        raise SetupError.of("--app", f"{app!r} is not of the form module:gateway", "Correct it")
    for part in (name, attribute):
        if not all(one.isidentifier() for one in part.split(".")):
            problem = f"{part!r} is no name with dots, as Python imports it"
            fix = "Go to the program's folder, and write it like app:gateway or shop.app:gateway"
            raise SetupError.of("--app", problem, fix)
    return name, attribute


def _module(name: str) -> ModuleType:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what the program says is not our answer
            return importlib.import_module(name)
    except SetupError:
        raise
    except SystemExit as error:
        problem = f"importing {name!r} ends the program (SystemExit: {error})"
        fix = 'Put what it runs under `if __name__ == "__main__":`'
        raise SetupError.of("--app", problem, fix) from None
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _broken(name, error) from error
        problem = f"there is no module {name!r} in {Path.cwd()}"
        raise SetupError.of("--app", problem, "Correct it, or go to the program's folder") from None
    except Exception as error:
        raise _broken(name, error) from error


def _broken(name: str, error: Exception) -> SetupError:
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}:{frame.lineno}"
    problem = f"importing {name!r} raised {type(error).__name__}: {error} ({where})"
    return SetupError.of("--app", problem, "Correct the module")
