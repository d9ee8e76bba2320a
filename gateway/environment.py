"""Raw variables: where they come from, what a provider's are called, how groups are validated."""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from .errors import Fault, SetupError

M = TypeVar("M", bound=BaseModel)

_BOUNDS = {"gt", "ge", "lt", "le"}


class Environment(msgspec.Struct, frozen=True):
    """
    Variables with their origins.

    Attributes:
        values: Name → value; an empty one is unset and left out.
        origins: Name → `environment`, or the file it was read from.
        faults: Lines of the file that cannot be read, and values that are no text.

    """

    values: Mapping[str, str]
    origins: Mapping[str, str]
    faults: tuple[Fault, ...] = ()

    def __repr__(self) -> str:
        return f"Environment({len(self.values)} variables)"  # their values may be secrets

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("variables", len(self.values))]

    @classmethod
    def read(
        cls,
        environ: Mapping[str, str] | None = None,
        env_file: str | os.PathLike[str] | None = None,
    ) -> Environment:
        """
        Read the process environment, or *environ*; it wins over *env_file*.

        Raises:
            SetupError: The file cannot be read.

        """
        faults: list[Fault] = []
        given = _said(os.environ if environ is None else environ, faults)
        filed = _filed(Path(env_file), faults) if env_file is not None else {}
        origins = {**dict.fromkeys(filed, str(env_file)), **dict.fromkeys(given, "environment")}
        return cls({**filed, **given}, origins, tuple(faults))


def _said(given: Mapping[Any, Any], faults: list[Fault]) -> dict[str, str]:
    """Keep what says something: an empty variable is unset, and hides no line of a file."""
    said: dict[str, str] = {}
    for name, text in given.items():
        if not isinstance(name, str) or not isinstance(text, str):
            found = type(text if isinstance(name, str) else name).__name__
            faults.append(Fault(str(name), f"variables are texts, not {found}", "Write it as text"))
        elif text.strip():
            said[name] = text
    return said


def variables_of(provider: str, suffix: str) -> list[str]:
    """Name the variables that configure *provider*, the instance's own first."""
    name, _, instance = provider.upper().replace("-", "_").partition("/")
    own = [f"{name}__{instance.replace('/', '_')}__{suffix}"] if instance else []
    return [*own, f"{name}_{suffix}"]


def validated(
    model: type[M], group: Mapping[str, str], values: Mapping[str, str], faults: list[Fault]
) -> M:
    """
    Validate the variables of *group* (field → variable); what is wrong goes to *faults*.

    Values never enter a fault: they may be secrets.
    """
    given = {
        field: values[variable].strip() for field, variable in group.items() if variable in values
    }
    try:
        made: M = _from_map(model).model_validate(given)
    except ValidationError as error:
        for one in error.errors(include_input=False, include_url=False):
            field = str(one["loc"][0]) if one["loc"] else ""
            given.pop(field, None)
            told = _problem(model, field, one["type"], one["msg"])
            faults.append(_fault(group.get(field, model.__name__), one["type"], told))
        return model.model_construct(None, **given)  # what is right still helps to find more
    return made


@functools.cache
def _from_map(model: type[M]) -> type[M]:
    """
    Cut a settings model off from the process environment.

    By itself it would also read `BASE_URL` or `MODEL` there, and send a key to a stranger.
    """
    if not issubclass(model, BaseSettings):
        return model
    body = {"settings_customise_sources": classmethod(_given), "__module__": model.__module__}
    made: Any = types.new_class(
        model.__name__, (model,), exec_body=lambda names: names.update(body)
    )
    return cast("type[M]", made)


def _given(*_: Any, init_settings: object, **__: Any) -> tuple[object]:  # noqa: ANN401
    return (init_settings,)


def _fault(variable: str, kind: str, message: str) -> Fault:
    if kind == "missing":
        return Fault(variable, "it is not set", "Set it, or select another provider")
    return Fault(variable, message, "Correct it, or unset it")


def _problem(model: type[BaseModel], field: str, kind: str, message: str) -> str:
    """Say what a value must be: its form and range, not which of them was missed first."""
    if kind.startswith(("bool_", "int_", "float_", "greater_", "less_", "finite_")):
        named = {one.alias or name: one for name, one in model.model_fields.items()}
        return f"it must be {_form(named[field])}" if field in named else message
    message = message.removeprefix("Value error, ").replace("Input should be", "it must be")
    return message[0].lower() + message[1:]


def _form(field: FieldInfo) -> str:
    said = str(field.annotation)
    if "bool" in said:
        return "true or false"
    form = "a whole number" if "int" in said else "a number, written like 0.5,"
    limits = [(name, one) for one in field.metadata for name in _BOUNDS if hasattr(one, name)]
    bounds = {name: getattr(one, name) for name, one in limits}
    if {"ge", "le"} <= bounds.keys():
        return f"{form} from {bounds['ge']} to {bounds['le']}"
    words = {"gt": "above", "ge": "from", "lt": "below", "le": "up to"}
    told = " and ".join(f"{word} {bounds[name]}" for name, word in words.items() if name in bounds)
    return f"{form} {told}".rstrip(" ,")


def _filed(path: Path, faults: list[Fault]) -> dict[str, str]:
    import io

    from dotenv.parser import parse_stream

    filed: dict[str, str] = {}
    for one in parse_stream(io.StringIO(_text(path))):
        if one.error:
            blank = len(one.original.string) - len(one.original.string.lstrip())
            line = one.original.line + one.original.string[:blank].count("\n")
            fix = "Write NAME=value, and close every quote"
            faults.append(Fault(f"{path}:{line}", "this line cannot be read", fix))
        elif one.key is not None and (one.value or "").strip():
            filed[one.key] = one.value or ""
    return filed


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        problem = "there is no such file"
    except IsADirectoryError:
        problem = "it is a folder, not a file of variables"
    except UnicodeDecodeError:
        problem = "it is not written in UTF-8"
    except OSError as error:
        problem = f"it cannot be read ({type(error).__name__})"
    raise SetupError.of(str(path), problem, "Correct the file, or `env_file`")
