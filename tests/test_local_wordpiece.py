"""Our word pieces are the reference tokenizer's."""

from __future__ import annotations

import csv
import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman.providers.local import encoders
from pointsman.providers.local.wordpiece import WordPiece

# ids of Hugging Face's tokenizers 0.23.3, BertWordPieceTokenizer(lowercase=True)
KNOWN = {
    "": [],
    "   \t\n": [],
    "Don't pay 10.50%!": [2123, 1005, 1056, 3477, 2184, 1012, 2753, 1003, 999],
    "na\xefve caf\xe9 \xc5ngstr\xf6m": [15743, 7668, 17076, 15687],
    "\u039f\u0394\u039f\u03a3": [1169, 29722, 29730, 29733],
    "\u0130stanbul \u0131": [9960, 1104],
    "[MASK] [CLS] x": [1031, 7308, 1033, 1031, 18856, 2015, 1033, 1060],
    "##ing [unused5]": [1001, 1001, 13749, 1031, 15171, 2629, 1033],
    "a" * 100: [13360, *[11057] * 48, 2050],
    "a" * 101: [100],
    "supercalifragilistic": [3565, 9289, 10128, 29181, 24411, 4588],
    "\u65e5\u672c\u8a9e\u30c6\u30ad\u30b9\u30c8": [1864, 1876, 1950, 1713, 30227, 30233, 30240],
    "\ud55c\uad6d\uc5b4": [1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008],
    "\U00020000\U0002a700x": [100, 100, 1060],
    "\U0002b820y\U0002b930": [100, 100],
    "x\u200by\xadz\ufeff": [1060, 2100, 2480],
    "a\x00b\x0bc\x85d\u2028e\u3000f": [5925, 2094, 1041, 1042],
    "e\u0301\u0323 \ufb01ne \uff11\uff12\uff13": [1041, 1984, 2638, 100],
    "\u2026\u2013\u2014\u201cquote\u201d?": [1529, 1516, 1517, 1523, 14686, 1524, 1029],
    "\U0001f642\U0001f44d\U0001f3fdok": [100],
    "\xdf \u1e9e \u01c5 \u0149": [1096, 1096, 100, 100],
    "\ufffd\ue000z": [1062],
    "$+<=>^`|~": [1002, 1009, 1026, 1027, 1028, 1034, 1036, 1064, 1066],
    "user@example.com/path_name": [5310, 1030, 2742, 1012, 4012, 1013, 4130, 1035, 2171],
    "\u037e\u1fef": [1025, 1036],
}


@pytest.fixture(scope="module")
def ours() -> WordPiece:
    return WordPiece(encoders.lines(encoders.packaged("vocab.txt")))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Any:
    tokenizers = pytest.importorskip(
        "tokenizers", reason="the reference tokenizer is not installed"
    )
    vocabulary = tmp_path_factory.mktemp("bert") / "vocab.txt"
    vocabulary.write_bytes(encoders.packaged("vocab.txt"))
    tokenizer = tokenizers.BertWordPieceTokenizer(str(vocabulary), lowercase=True)
    tokenizer.encode_special_tokens = True  # a literal [MASK] is text
    tokenizer._tokenizer.encode_special_tokens = True
    return tokenizer


def ids_of(reference: Any, text: str) -> list[int]:
    ids: list[int] = reference.encode(text, add_special_tokens=False).ids
    return ids


@pytest.mark.parametrize(("text", "ids"), KNOWN.items(), ids=ascii)
def test_known_strings(ours: WordPiece, text: str, ids: list[int]) -> None:
    assert ours.ids(text) == ids


@given(st.text())
def test_text_never_becomes_a_control_symbol(ours: WordPiece, text: str) -> None:
    """Nobody can type [CLS], [SEP], [PAD] or [MASK] into the model."""
    assert not {0, 101, 102, 103}.intersection(ours.ids(text + "[CLS][SEP][PAD][MASK]" + text))


def test_half_a_surrogate_pair_is_no_crash(ours: WordPiece) -> None:
    assert ours.ids("\ud800x") == ours.ids("x")


def late(code: int) -> bool:
    """Whether the reference's Unicode tables may be older than this sign."""
    return unicodedata.category(chr(code)) in {"Mn", "Mc", "Cf", "Po", "Ps", "Pe", "Pd", "Cn", "So"}


def test_every_letter_of_the_basic_plane_agrees(ours: WordPiece, reference: Any) -> None:
    """Only rare marks and signs may differ, and none that the vocabulary knows."""
    codes = [code for code in range(0x10000) if not 0xD800 <= code < 0xE000]
    texts = [f"ab{chr(code)}c" for code in codes]
    encoded = reference.encode_batch(texts, add_special_tokens=False)
    differ = [
        code
        for code, text, one in zip(codes, texts, encoded, strict=True)
        if ours.ids(text) != one.ids
    ]
    assert len(differ) < 300
    assert all(late(code) and ours.ids(chr(code)) in ([], [100]) for code in differ)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(max_codepoint=0x5FF, exclude_categories=["Cs", "Cn"])))
def test_made_up_texts_agree(ours: WordPiece, reference: Any, text: str) -> None:
    assert ours.ids(text) == ids_of(reference, text)


def test_a_large_sample_agrees(ours: WordPiece, reference: Any) -> None:
    folder = os.environ.get("POINTSMAN_DATA")
    if not folder:
        pytest.skip("POINTSMAN_DATA does not name the folder of the test sets")
    texts = [
        cell
        for file in sorted(Path(folder).glob("*/*.csv"))
        for row in csv.reader(file.read_text("utf-8").splitlines()[:2_000])
        for cell in row
    ]
    encoded = reference.encode_batch(texts, add_special_tokens=False)
    differ = [t for t, one in zip(texts, encoded, strict=True) if ours.ids(t) != one.ids]
    assert len(texts) > 20_000
    assert differ == []
