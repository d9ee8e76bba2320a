"""Labels out of a file: about decisions of the journal, or about states that are asked now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

from ...errors import Fault, SetupError
from ...questions import Outcome
from ..reading import NotJson, parsed
from ..rows import refuse

FIX = "Nothing was asked or written. Correct the file"
SHAPE = '{"id": …, "label": …} or {"state": …, "label": …}'
LABELS = ("label", "gold")
OWN = {"id", "state", "question", *LABELS}


class Labelled(msgspec.Struct, frozen=True, kw_only=True):
    """
    One line of the file.

    Attributes:
        line: Its number, from 1.
        id: The decision's; or what the file calls the row.
        label: What would be right, in the point's vocabulary; question → value for several.
        state: What is asked about; None where the decision is in the journal.
        fields: Everything else in the line, by which rows may be told apart.

    """

    line: int
    id: str
    label: Outcome
    state: Any = None
    fields: dict[str, Any] = {}


def read_labels(file: Path) -> list[Labelled]:
    """
    Read every line: either all hold a state, or none does.

    Raises:
        SetupError: The file cannot be read, or lines of it say too little; each fault names
            file and line.

    """
    rows: list[Labelled] = []
    faults: list[Fault] = []
    for number, line in _lines(file):
        row = _row(number, line)
        if isinstance(row, str):
            faults.append(Fault(f"{file}:{number}", row, FIX))
        else:
            rows.append(row)
    refuse(file, faults, FIX)
    if not rows:
        raise SetupError.of(str(file), "it has no rows", f"Each line is {SHAPE}")
    if len({row.state is None for row in rows}) > 1:
        problem = "some rows have a state and some have none"
        raise SetupError.of(str(file), problem, "Put those about decisions in another file")
    return rows


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    try:
        with file.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield number, line
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
        raise SetupError.of(str(file), problem, "Correct the path") from None
    except UnicodeDecodeError as error:
        problem = f"it is not UTF-8 (byte {error.start})"
        raise SetupError.of(str(file), problem, "Convert it") from None


def _row(number: int, line: str) -> Labelled | str:
    """Give the row of a *line*, or what is wrong with it."""
    try:
        read: Any = parsed(line)
    except NotJson as error:
        return str(error)
    if not isinstance(read, dict):
        return "it is no JSON object"
    fields = cast("dict[str, Any]", read)
    name = next((name for name in LABELS if fields.get(name) is not None), None)
    if name is None:
        return f"it has no label; a line is {SHAPE}"
    label: Any = fields[name]
    if not _is_label(label):
        return "its label is no text, truth, number, or object of these by question"
    state = fields.get("state")
    if state is None and not isinstance(fields.get("id"), str):
        return f"it has neither a state nor the id of a decision; a line is {SHAPE}"
    question = fields.get("question")
    rest = {key: value for key, value in fields.items() if key not in OWN}
    return Labelled(
        line=number,
        id=str(fields.get("id", number)),
        label=label if question is None else {str(question): label},
        state=state,
        fields=rest,
    )


def _is_label(label: object) -> bool:
    if isinstance(label, dict):
        values = cast("dict[str, object]", label).values()
        return all(one is None or isinstance(one, str | bool | int | float) for one in values)
    return isinstance(label, str | bool | int | float)
