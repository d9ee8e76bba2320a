"""What every statistic asks of its rows: columns of one length, and numbers that are numbers."""

from __future__ import annotations

from collections.abc import Sequence, Sized


def paired(*columns: Sized) -> int:
    """
    Count the rows of columns that belong together.

    Raises:
        ValueError: The columns differ in length, or there is no row.

    """
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError(f"columns of different lengths: {sorted(lengths)}")
    if not max(lengths):
        raise ValueError("no rows")
    return lengths.pop()


def share(name: str, value: float, *, open_ended: bool = False) -> float:
    """
    Check that a number lies in [0, 1]; with `open_ended`, strictly between.

    Raises:
        ValueError: It does not, or it is not a number.

    """
    if not (0.0 < value < 1.0 if open_ended else 0.0 <= value <= 1.0):
        raise ValueError(f"{name}: {value!r} is not {'between' if open_ended else 'from'} 0 and 1")
    return value


def confident(confidences: Sequence[float], right: Sequence[bool]) -> int:
    """
    Check confidences and whether each answer was right; give the number of rows, maybe 0.

    Raises:
        ValueError: The columns differ in length, a confidence is no number in [0, 1], or a
            judgement is neither true nor false. The row is named, counted from 0.

    """
    if len(confidences) != len(right):
        raise ValueError(f"{len(confidences)} confidences, {len(right)} judgements")
    for row, (confidence, verdict) in enumerate(zip(confidences, right, strict=True)):
        share(f"row {row}: confidence", confidence)
        if verdict not in (0, 1):
            raise ValueError(f"row {row}: {verdict!r} is neither right nor wrong")
    return len(right)
