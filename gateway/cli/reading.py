"""JSON and words as people give them: torn, too deep, half a character; never a traceback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from ..errors import SetupError

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


def whole(words: str) -> str:
    """Put U+FFFD in the place of half a character, which no decider could be sent."""
    return words.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _no_number(name: str) -> NoReturn:
    raise NotJson(f"it is no JSON ({name} is no number)")
