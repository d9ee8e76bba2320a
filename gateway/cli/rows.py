"""The rows of a run: read whole and checked before anything is asked."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import Fault, SetupError, raise_all
from .reading import NotJson, parsed

DELIMITERS = {".csv": ",", ".tsv": "\t"}  # anything else is read as JSON lines
MOST_FAULTS = 20  # that are told at once
FIX = "Nothing was asked. Correct the file, or name the column with --text or --label"


@dataclass(frozen=True, slots=True)
class Row:
    """
    One row.

    Attributes:
        number: From 1, without a heading line.
        place: File and line, for a person.
        words: What is judged.
        label: The right answer, if the file has one.
        fields: Everything else in the row.

    """

    number: int
    place: str
    words: Any
    label: str | None
    fields: dict[str, Any]


def read_rows(file: Path, text: str, label: str | None) -> list[Row]:
    """
    Read every row.

    Raises:
        SetupError: The file cannot be read, or rows lack a column or are no JSON; each fault
            names file and line.

    """
    rows: list[Row] = []
    faults: list[Fault] = []
    for line, fields in _fields(file, faults):
        wrong = _lacking(fields, text, label)
        if wrong:
            faults.append(Fault(f"{file}:{line}", wrong, FIX))
        else:
            place = f"{file}:{line}"
            rows.append(_row((len(rows) + 1, place), fields, text, label))
    if not faults and not rows:
        faults = [Fault(str(file), "it has no rows", "Name another file")]
    refuse(file, faults)
    return rows


def refuse(file: Path, faults: list[Fault], fix: str = FIX) -> None:
    """
    Tell what is wrong with rows of *file* and how to *fix* it, though not thousands of times.

    Raises:
        SetupError: There is at least one fault.

    """
    if len(faults) > MOST_FAULTS:
        more = f"{len(faults) - MOST_FAULTS} more rows are wrong"
        faults = [*faults[:MOST_FAULTS], Fault(str(file), more, fix)]
    raise_all(faults)


def _row(where: tuple[int, str], fields: dict[str, Any], text: str, label: str | None) -> Row:
    rest = {name: value for name, value in fields.items() if name not in (text, label)}
    gold = None if label is None else _written(fields[label])
    return Row(*where, fields[text], gold, rest)


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _lacking(fields: dict[str, Any], text: str, label: str | None) -> str:
    for name in (text, *([] if label is None else [label])):
        if name not in fields:
            return f"there is no {name!r}; it has {', '.join(map(str, fields)) or 'nothing'}"
        if fields[name] is None:
            return f"its {name!r} is null"
    return ""


def _fields(file: Path, faults: list[Fault]) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            delimiter = DELIMITERS.get(file.suffix.lower())
            if delimiter is None:
                yield from _json(file, lines, faults)
            else:
                yield from _csv(
                    file, csv.DictReader(lines, delimiter=delimiter, strict=True), faults
                )
    except OSError as error:
        fix = "Correct the path"
        raise SetupError.of(str(file), f"it cannot be read ({error.strerror})", fix) from None
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 (byte {error.start})"
        raise SetupError.of(str(file), problem, "Convert it") from None
    except csv.Error as error:
        raise SetupError.of(str(file), f"it is no CSV ({error})", "Correct it") from None


def _csv(
    file: Path, reader: csv.DictReader[str], faults: list[Fault]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for fields in reader:
        known: dict[Any, Any] = dict(fields)  # None: the cells beyond the heading
        more = known.pop(None, None)
        if more:
            cells, headings = len(known) + len(more), len(known)
            problem = f"it has {cells} cells, and the heading {headings}; a comma may lack quotes"
            faults.append(Fault(f"{file}:{reader.line_num}", problem, FIX))
        else:
            there = {name: cell for name, cell in known.items() if name and cell is not None}
            yield reader.line_num, there


def _json(
    file: Path, lines: Iterable[str], faults: list[Fault]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = parsed(line)
        except NotJson as error:
            faults.append(Fault(f"{file}:{number}", str(error), FIX))
            continue
        if isinstance(fields, dict):
            yield number, fields
        else:
            faults.append(Fault(f"{file}:{number}", "it is no JSON object", FIX))
