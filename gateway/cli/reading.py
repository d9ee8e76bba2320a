"""JSON and words as people give them: torn, too deep, half a character; never a traceback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from ..errors import DeclarationError, SetupError

L = TypeVar("L", bound=msgspec.Struct)

HALF = re.compile(r"\\u[dD][89a-fA-F]")  # what half a character is written as


class NotJson(ValueError):
    """A text that is no JSON; its message says why."""


class TooDeep(NotJson):
    """JSON in more levels than can be read."""


def parsed(text: str, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:  # noqa: ANN401 - any JSON
    """
    Read strict JSON; half a character becomes U+FFFD, as in every state.

    Raises:
        NotJson: It is none: torn, `NaN`, or nested too deep.

    """
    try:
        read = json.loads(text, parse_constant=_no_number, object_pairs_hook=pairs)
        if pairs is None and HALF.search(text):
            read = json.loads(whole(json.dumps(read, ensure_ascii=False)))
    except NotJson:
        raise
    except ValueError as error:
        raise NotJson(f"it is no JSON ({error})") from None
    except RecursionError:
        raise TooDeep("it is nested too deep") from None
    return read


def json_file(
    path: Path,
    where: str,
    fix: str,
    pairs: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:  # noqa: ANN401 - any JSON
    """
    Read a file of JSON.

    Raises:
        SetupError: It cannot be read, or is no JSON.

    """
    try:
        return parsed(path.read_text("utf-8-sig"), pairs)
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 (byte {error.start})"
    except ValueError as error:
        problem = str(error)
    raise SetupError.of(where, problem, fix)


def lines_of(file: Path, where: str, fix: str) -> Iterator[tuple[int, str]]:
    """
    Give the lines of *file* that say something, with their numbers from 1.

    Raises:
        SetupError: It cannot be read, which *where* and *fix* are for, or is not UTF-8.

    """
    try:
        with file.open(encoding="utf-8-sig", newline="\n") as lines:
            yield from ((at, text) for at, text in enumerate(lines, start=1) if text.strip())
    except OSError as error:
        raise SetupError.of(where, f"it cannot be read ({error.strerror})", fix) from None
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 (byte {error.start})"
        raise SetupError.of(str(file), problem, "Convert it") from None


def line_of(text: str, form: type[L], shape: str) -> L:
    """
    Read one line as *form*, which *shape* shows to people.

    Raises:
        DeclarationError: It is no JSON, or of another form.

    """
    try:
        return msgspec.convert(parsed(text), form)
    except NotJson as error:
        raise DeclarationError(str(error)) from None
    except msgspec.ValidationError as error:
        raise DeclarationError(f"not of the form {shape} ({error})") from None


def whole(words: str) -> str:
    """Put U+FFFD in the place of half a character, which no decider could be sent."""
    return words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _no_number(name: str) -> NoReturn:
    raise NotJson(f"it is no JSON ({name} is no number)")
