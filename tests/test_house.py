"""The house: three rooms, one direction, small modules; read from the source, not run."""

from __future__ import annotations

import ast
import graphlib
import re
import statistics
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import pointsman
from pointsman.gateway import errors
from pointsman.gateway.errors import PointsmanError, Reason

PACKAGE = Path(pointsman.__file__).parent
ROOT = Path(__file__).parent.parent
ROOMS = ("gateway", "providers", "decision_points")

LINES = 300  # of a module
MEDIAN = 10  # lines of a function


def _modules() -> dict[str, Path]:
    """Dotted name within the package → file."""
    found = {}
    for room in ROOMS:
        folder = (PACKAGE / room).resolve()
        for path in folder.rglob("*.py"):
            parts = (room, *path.relative_to(folder).with_suffix("").parts)
            found[".".join(part for part in parts if part != "__init__")] = path
    return found


MODULES = _modules()
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}
each_module = pytest.mark.parametrize("name", MODULES)


INTEGRATIONS = "gateway.integrations"
FRAMEWORKS = {
    "langgraph",
    "openai_agents",
    "pydantic_ai",
    "mcp",
    "crewai",
    "google_adk",
    "llama_index",
    "agent_framework",
}


def _framework(name: str) -> str:
    """The framework whose integration a module is part of; none if it is part of none."""
    rest = name.removeprefix(f"{INTEGRATIONS}.").partition(".")[0]
    return rest if name.startswith(INTEGRATIONS) and rest in FRAMEWORKS else ""


def _is_guard(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _statements(node: ast.AST, *, lazy: bool, guarded: bool) -> Iterator[ast.stmt]:
    """Every statement, without those in functions or under `TYPE_CHECKING` unless wanted."""
    for child in ast.iter_child_nodes(node):
        if _is_guard(child) and not guarded:
            continue
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not lazy:
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from _statements(child, lazy=lazy, guarded=guarded)


def _imports(name: str, *, lazy: bool, guarded: bool) -> set[str]:
    """What a module imports: our own modules by their dotted names, others as written."""
    found: set[str] = set()
    for one in _statements(TREES[name], lazy=lazy, guarded=guarded):
        if isinstance(one, ast.Import):
            found |= {alias.name for alias in one.names}
        elif isinstance(one, ast.ImportFrom):
            found |= _from(name, one)
    return found


def _from(name: str, one: ast.ImportFrom) -> set[str]:
    if not one.level:
        return {one.module or ""}
    is_package = MODULES[name].name == "__init__.py"
    parts = name.split(".") if is_package else name.split(".")[:-1]
    base = [*parts[: len(parts) - one.level + 1], *(one.module or "").split(".")]
    target = ".".join(part for part in base if part)
    names = {f"{target}.{alias.name}" for alias in one.names}
    return {each if each in MODULES else target for each in names}


def _room(name: str) -> str:
    return name.partition(".")[0]


def test_the_rooms_are_where_the_package_says() -> None:
    assert {_room(name) for name in MODULES} == set(ROOMS)
    assert "gateway.wire.openai" in MODULES
    assert _imports("gateway.engine", lazy=False, guarded=False) >= {
        "gateway.acceptance",
        "msgspec",
    }


@each_module
def test_the_gateway_imports_neither_providers_nor_points(name: str) -> None:
    """`decision_points → gateway ← providers`, also for types and inside functions."""
    allowed = {
        "gateway": {"gateway"},
        "providers": {"providers", "gateway"},
        "decision_points": {"decision_points", "gateway"},
    }[_room(name)]

    own = {one for one in _imports(name, lazy=True, guarded=True) if _room(one) in ROOMS}

    assert {_room(one) for one in own} <= allowed


@each_module
def test_a_provider_imports_no_other_provider(name: str) -> None:
    """They meet by name, through the gateway; `__init__` only offers them."""
    if _room(name) != "providers" or name == "providers":
        return
    family = ".".join(name.split(".")[:2])

    others = {one for one in _imports(name, lazy=True, guarded=True) if _room(one) == "providers"}

    assert {".".join(one.split(".")[:2]) for one in others} <= {family}


def test_there_are_no_circles() -> None:
    """Between modules as they are loaded; a type may look back under `TYPE_CHECKING`."""
    graph = {
        name: {
            one
            for one in _imports(name, lazy=False, guarded=False)
            if one in MODULES and one != name
        }
        for name in MODULES
    }

    assert list(graphlib.TopologicalSorter(graph).static_order())


@each_module
def test_one_module_imports_httpx(name: str) -> None:
    """So that the next HTTP client is one change; its types may be named elsewhere."""
    allowed = {
        "httpx": {"gateway.http"},
        "httpcore": {"gateway.connections", "gateway.sockets", "gateway.streams"},
        "tenacity": {"gateway.retries"},
        "structlog": {"gateway.telemetry"},
    }
    imported = {_room(one) for one in _imports(name, lazy=True, guarded=False)}

    for library, modules in allowed.items():
        assert library not in imported or name in modules


@each_module
def test_only_the_server_imports_what_the_server_needs(name: str) -> None:
    """The extra `server` stays one; the command imports the server when it is to serve."""
    libraries = {"starlette", "uvicorn", "httptools", "uvloop", "zstandard", "prometheus_client"}
    imported = _imports(name, lazy=True, guarded=True)
    if not name.startswith("gateway.server") and not _framework(name):  # theirs may be the same
        assert not {_room(one) for one in imported} & libraries
    if not name.startswith(("gateway.server", "gateway.cli")):
        assert not [one for one in imported if one.startswith("gateway.server")]


@each_module
def test_nothing_imports_an_integration_but_itself(name: str) -> None:
    """Each needs a framework that others have not installed; a command may run its own."""
    meant = {_framework(one) for one in _imports(name, lazy=True, guarded=True)} - {""}
    loaded = {_framework(one) for one in _imports(name, lazy=False, guarded=True)} - {""}

    if not name.startswith("gateway.cli."):
        assert meant <= {_framework(name)}
    assert loaded <= {_framework(name)}


@each_module
def test_only_settings_read_the_process_environment(name: str) -> None:
    """The command hands a file's variables on to the program that it loads."""
    source = MODULES[name].read_text("utf-8")

    reads = "os.environ" in source or "os.getenv" in source
    assert not reads or name == "gateway.environment" or name.startswith("gateway.cli.")


BARE = re.compile(r"^\s*(?:import|from)\s+(?:gateway|providers|decision_points)\b", re.MULTILINE)


def test_nobody_imports_a_second_copy() -> None:
    """A bare `import gateway` would load one, with its own classes; ruff's ban is not all."""
    folders = [*ROOMS, "src", "tests", "benchmarks", "docs", "examples", "tools"]
    pages = [
        page
        for folder in folders
        for pattern in ("*.py", "*.md")
        for page in (ROOT / folder).rglob(pattern)
    ]
    pages += [ROOT / "README.md"]

    assert [
        str(page)
        for page in pages
        if page.is_file() and page != Path(__file__) and BARE.search(page.read_text("utf-8"))
    ] == []


@each_module
def test_a_module_can_be_read_in_one_sitting(name: str) -> None:
    assert len(MODULES[name].read_text("utf-8").splitlines()) <= LINES


@each_module
def test_a_module_says_what_it_is_for(name: str) -> None:
    assert ast.get_docstring(TREES[name])


def _lengths(tree: ast.AST) -> Iterator[int]:
    """Lines of each function, without its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            documented = ast.get_docstring(node, clean=False) is not None
            said = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
            yield (node.end_lineno or 0) - node.lineno + 1 - said


def test_functions_are_short() -> None:
    lengths = [length for tree in TREES.values() for length in _lengths(tree)]

    assert statistics.median(lengths) <= MEDIAN


def test_the_drivers_of_the_engine_fit_on_a_screen() -> None:
    """Short enough to be read in one breath: the flow does no I/O, the drivers do no thinking."""
    drivers = [
        node
        for node in ast.walk(TREES["gateway.engine"])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if node.name in ("drive_sync", "drive_async")
    ]

    assert len(drivers) == 2
    assert all(length <= 20 for driver in drivers for length in _lengths(driver))


# --- errors and reasons ------------------------------------------------------------------


def _family(error: type[BaseException]) -> Iterator[type[BaseException]]:
    yield error
    for child in error.__subclasses__():
        if child.__module__.startswith("pointsman."):
            yield from _family(child)


@pytest.mark.parametrize("error", list(_family(PointsmanError)), ids=lambda error: error.__name__)
def test_every_error_is_in_the_drawn_tree(error: type[BaseException]) -> None:
    """Ordered by who must act; each says when. A room that has errors of its own draws those."""
    drawn = sys.modules[error.__module__].__doc__ if error.__module__.endswith(".errors") else None
    assert re.search(rf"\b{error.__name__}\b", drawn or errors.__doc__ or "")
    assert error.__doc__


def _raised() -> Mapping[str, set[str]]:
    """The names of what each module raises."""
    return {
        name: {
            ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
            for node in ast.walk(tree)
            if isinstance(node, ast.Raise) and node.exc is not None
        }
        for name, tree in TREES.items()
    }


def test_reasons_are_the_designs_closed_list() -> None:
    listed = """
        ok low_confidence confidence_missing refused abstained incomplete malformed mismatched
        wrong_type undeclared_option invalid_number inconsistent unsupported timeout transport
        rate_limited auth payment rejected provider_error too_large breaker_open over_budget
        nested skipped cancelled
    """

    assert [reason.value for reason in Reason] == listed.split()


def test_a_reason_is_never_made_up() -> None:
    """`NoAnswer` takes one of the list; `ok` is no reason to have no answer."""
    for wrong in ("because", "", "ok"):
        with pytest.raises(ValueError, match=r"ok|not a valid Reason"):
            pointsman.NoAnswer(wrong)  # type: ignore[arg-type]
    assert pointsman.NoAnswer("timeout").reason is Reason.TIMEOUT  # type: ignore[arg-type]


def test_no_module_raises_a_bare_exception() -> None:
    assert not [
        name for name, raised in _raised().items() if raised & {"Exception", "BaseException"}
    ]
