"""Text, TOML and CSV from the disk; what cannot be read is a fault that names file and line."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ....gateway.errors import SetupError
from .tables import Page


def toml_of(path: str | Path) -> dict[str, Any]:
    """
    Read a TOML file.

    Raises:
        SetupError: There is none, it is no text in UTF-8, or it is no TOML: then with the line.

    """
    text, problem = _text(Path(path))
    if not problem:
        try:
            return tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            problem = f"it is no TOML: {error}"
    raise SetupError.of(str(path), problem, "Correct the file, or name another")


def rows_of(path: Path, columns: Mapping[str, str], page: Page) -> Iterator[dict[str, str]]:
    """
    Read rows of a CSV file with a head.

    Args:
        path: The file.
        columns: Its column → name under which a row gives it; others are left out, and so are
            fields that are empty.
        page: Gets a fault where the file cannot be read.

    Yields:
        What a row says, by name.

    """
    text, problem = _text(path)
    reader = csv.DictReader(io.StringIO(text), strict=True)
    try:
        for row in reader:
            yield {
                columns[name]: (value or "").strip()
                for name, value in row.items()
                if name in columns and (value or "").strip()
            }
    except csv.Error as error:
        problem = f"line {reader.line_num} is no CSV: {error}"
    if problem:
        page.wrong(f"{path}: {problem}", "Correct the file, or name another")


def _text(path: Path) -> tuple[str, str]:
    """Give a file's text, or what is wrong with it."""
    try:
        return path.read_text("utf-8-sig"), ""
    except FileNotFoundError:
        return "", "there is no such file"
    except IsADirectoryError:
        return "", "it is a folder"
    except UnicodeDecodeError:
        return "", "it is no text in UTF-8"
    except OSError as error:
        return "", f"it cannot be read ({type(error).__name__})"
