"""Rows as Parquet: columns for queries, and the row's JSON as `body`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from ..errors import SetupError
from .rows import DecisionRow, FeedbackRow, Row, ShadowRow

GROUP = 20_000  # rows of a group: as many are held in memory at once
EXTRA = 'Run: pip install "pointsman[parquet]", or choose .jsonl.gz'

COLUMNS = {
    "kind": "string",
    "id": "string",
    "decision": "string",
    "at": "float64",
    "point": "string",
    "variant": "string",
    "provider": "string",
    "model": "string",
    "reason": "string",
    "outcome": "string",
    "beside": "string",
    "confidence": "float64",
    "seconds": "float64",
    "cost_usd": "float64",
    "undecided": "bool_",
    "experiment": "string",
    "subject": "string",
    "was_right": "bool_",
    "label": "string",
    "body": "string",
}
"""Column → its type in Arrow; `outcome`, `beside`, `label` and `body` are JSON."""


def write_parquet(rows: Iterable[Row], path: Path) -> None:
    """
    Write *rows* into a Parquet file, compressed with zstd.

    Raises:
        SetupError: PyArrow is not installed.

    """
    arrow, parquet = _arrow()
    schema = arrow.schema([(name, getattr(arrow, kind)()) for name, kind in COLUMNS.items()])
    left = iter(rows)
    with parquet.ParquetWriter(str(path), schema, compression="zstd") as writer:
        while group := [_columns(row) for row in islice(left, GROUP)]:
            writer.write_table(arrow.Table.from_pylist(group, schema))


def read_parquet(path: Path) -> Iterator[str]:
    """
    Give the JSON of each row.

    Raises:
        SetupError: PyArrow is not installed, or the file is no Parquet with a column `body`.

    """
    arrow, parquet = _arrow()
    try:
        with parquet.ParquetFile(str(path)) as file:
            for group in file.iter_batches(GROUP, columns=["body"]):
                yield from ("" if one is None else one for one in group.column("body").to_pylist())
    except (arrow.ArrowInvalid, KeyError) as error:
        problem = "it is no Parquet file that a journal wrote"
        raise SetupError.of(str(path), problem, "Export it again") from error


def _arrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise SetupError.of(".parquet", "pyarrow is not installed", EXTRA) from None


def _columns(row: Row) -> dict[str, Any]:
    return {"id": row.id, "body": _json(row), **_KINDS[type(row)](row)}


def _decision(row: DecisionRow) -> dict[str, Any]:
    record = row.record
    last = record.attempts[-1] if record.attempts else None
    return {
        "kind": "decision",
        "decision": record.id,
        "at": record.at,
        "point": record.point,
        "variant": record.variant,
        "provider": record.provider,
        "model": None if last is None else last.model,
        "reason": str(record.reason),
        "outcome": _json_or_none(record.outcome),
        "confidence": record.confidence,
        "seconds": record.seconds,
        "cost_usd": record.cost_usd,
        "undecided": record.undecided,
        "experiment": None if record.exposure is None else record.exposure.experiment,
        "subject": row.kept.subject,
    }


def _shadow(row: ShadowRow) -> dict[str, Any]:
    shadow = row.shadow
    usage = shadow.attempt.usage
    return {
        "kind": "shadow",
        "decision": shadow.of,
        "at": shadow.at,
        "point": shadow.point,
        "provider": shadow.provider,
        "model": shadow.attempt.model,
        "reason": str(shadow.attempt.reason),
        "outcome": _json_or_none(shadow.outcome),
        "beside": _json_or_none(shadow.beside),
        "confidence": shadow.attempt.confidence,
        "seconds": shadow.attempt.seconds,
        "cost_usd": None if usage is None else usage.cost_usd,
    }


def _feedback(row: FeedbackRow) -> dict[str, Any]:
    return {
        "kind": "feedback",
        "decision": row.of,
        "at": row.at,
        "was_right": row.right,
        "label": _json_or_none(row.label),
    }


_KINDS: Mapping[type, Callable[[Any], dict[str, Any]]] = {
    DecisionRow: _decision,
    ShadowRow: _shadow,
    FeedbackRow: _feedback,
}


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _json_or_none(value: object) -> str | None:
    return None if value is None else _json(value)
