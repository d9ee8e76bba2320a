"""Raw variables: where they come from, what a provider's are called, how groups are validated."""

from __future__ import annotations

import functools
import os
import types
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec
from pydantic import BaseModel, ValidationError
from pydantic_settings import BaseSettings

from .errors import Fault, SetupError

M = TypeVar("M", bound=BaseModel)


class Environment(msgspec.Struct, frozen=True):
    """
    Variables with their origins.

    Attributes:
        values: Name → value; an empty one is unset and left out.
        origins: Name → `environment`, or the file it was read from.

    """

    values: Mapping[str, str]
    origins: Mapping[str, str]

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
        given = os.environ if environ is None else environ
        filed = _filed(Path(env_file)) if env_file is not None else {}
        values = {name: text for name, text in {**filed, **given}.items() if text.strip()}
        origins = {name: str(env_file) if name not in given else "environment" for name in values}
        return cls(values, origins)


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
            faults.append(_fault(group.get(field, model.__name__), one["type"], one["msg"]))
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
    return Fault(variable, message[0].lower() + message[1:], "Correct it, or unset it")


def _filed(path: Path) -> dict[str, str]:
    from dotenv import dotenv_values

    if not path.is_file():
        raise SetupError.of(str(path), "there is no such file", "Correct `env_file`")
    return {name: text or "" for name, text in dotenv_values(path, interpolate=False).items()}


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest the known variable that *name* may have meant."""
    import difflib

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.8)
    return f"Did you mean {near[0]}?" if near else "Declare the point, or unset it"
