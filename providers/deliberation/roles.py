"""Roles: who speaks, under which instructions, and which evidence they may see."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import msgspec

from ...gateway.errors import DeclarationError, Fault

PLACEBO = re.compile(r"placebo_([1-9]\d*)")


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a member is there for.

    Attributes:
        name: Unique among the roles of one deliberation: letters, digits, `-` and `_`.
        instructions: What the role does, in the programmer's words.
        description: One line about it that the others may be told.
        evidence: Ids of the evidence that it may see; None: all of it.

    Raises:
        DeclarationError: The name is none.

    """

    name: str
    instructions: str = ""
    description: str = ""
    evidence: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", self.name):
            raise DeclarationError(f"a role's name is letters, digits, - and _; got {self.name!r}")


BUILT_IN = (
    Role(
        name="generalist",
        instructions="Weigh the whole question as an experienced generalist.",
        description="Weighs the whole question",
    ),
    Role(
        name="skeptic",
        instructions=(
            "Look for what is wrong: premises without evidence, alternatives that nobody "
            "weighed, numbers that do not follow. Say plainly what holds in spite of that."
        ),
        description="Looks for what is wrong",
    ),
    Role(
        name="critic",
        instructions=(
            "Judge how the question was deliberated, not what was decided. Take no side. "
            "Score each criterion by what the record shows."
        ),
        description="Judges the deliberation itself",
    ),
    Role(
        name="advocate",
        instructions=(
            "Be the devil's advocate: argue against the recommendation as strongly as the "
            "evidence allows, and name what would have to be true for it to fail."
        ),
        description="Argues against the recommendation",
    ),
    Role(
        name="synthesizer",
        instructions=(
            "Bring together what was said. Keep apart what is agreed and what is still "
            "disputed, and add nothing that nobody said."
        ),
        description="Brings together what was said",
    ),
)

GENERIC = (
    "Answer the question carefully.",
    "Consider the question and give your answer.",
    "Think about the question, then answer it.",
    "Read the question and answer as well as you can.",
)
"""What a placebo is told: it has nobody's point of view."""

_roles: dict[str, Role] = {role.name: role for role in BUILT_IN}


def get_role(name: str) -> Role:
    """
    Give a role by its name.

    There are `generalist`, `skeptic`, `critic`, `advocate`, `synthesizer`, `placebo_1`,
    `placebo_2` …, and those that were registered.

    Raises:
        DeclarationError: There is none of this name.

    """
    if name in _roles:
        return _roles[name]
    if found := PLACEBO.fullmatch(name):
        return _placebo(name, int(found[1]))
    known = ", ".join(sorted(_roles))
    raise DeclarationError(f"there is no role {name!r}; there are {known}, and placebo_1 …")


def _placebo(name: str, number: int) -> Role:
    return Role(name=name, instructions=GENERIC[(number - 1) % len(GENERIC)])


def register_role(role: Role) -> None:
    """
    Let `get_role` give *role*; the same one may be registered again.

    Raises:
        DeclarationError: Another role has its name.

    """
    if _roles.get(role.name, role) != role or PLACEBO.fullmatch(role.name):
        raise DeclarationError(f"the role {role.name!r} exists already and is another one")
    _roles[role.name] = role


class Described(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A role as a file of roles holds it; its name is that of its table."""

    instructions: str = ""
    description: str = ""
    evidence: frozenset[str] | None = None


def read_roles(path: Path | None, where: str, faults: list[Fault]) -> dict[str, Role]:
    """
    Read a TOML file of roles, a table for each; without a file there are none.

    Args:
        path: The file.
        where: The variable that names it.
        faults: Gets what is wrong with it; then no role of it is given.

    """
    if path is None:
        return {}
    try:
        return _described(tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        problem = f"it cannot be read ({type(error).__name__})"
    except UnicodeDecodeError:
        problem = "it is no text in UTF-8"
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, DeclarationError) as error:
        problem = f"it holds no roles: {error}"
    fix = "Write TOML, a table for each: [cfo] and below it instructions = 'Weigh the money.'"
    faults.append(Fault(where, problem, fix))
    return {}


def _described(tables: dict[str, object]) -> dict[str, Role]:
    read = msgspec.convert(tables, dict[str, Described])
    return {name: Role(name=name, **msgspec.structs.asdict(one)) for name, one in read.items()}
