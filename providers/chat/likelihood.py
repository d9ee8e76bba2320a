"""
From the log-probabilities of tokens to the probabilities of outcomes.

A model's answer is read along the tokens it wrote. At each one that tells outcomes apart, the
alternatives which the server lists are sorted by the one outcome that each of them can still
become. What lies on alternatives that name no outcome, or that several may follow, or that the
server does not list, belongs to nobody: it is neither given to an outcome nor shared out among
them, so the probabilities add up to 1 or to less. A token that tells nothing apart, a quote, is
taken as given: it is weighed only against alternatives that lead to an outcome too. One that
holds nothing of the value, a colon with a blank to come, is another layout of the same answer.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ...gateway.wire.faults import UNREADABLE

ROUNDED = 1e-3  # above 0, for a logarithm that was rounded on its way
_BLANKS = b" \t\r\n"
_ENDS = b",}"  # what may follow a value in an object


class _Alternative(msgspec.Struct, frozen=True):
    token: str
    logprob: float
    spelt: Sequence[int] | None = msgspec.field(default=None, name="bytes")

    @property
    def written(self) -> bytes:
        """The token's bytes; the text alone, where a server keeps them to itself."""
        return self.token.encode(errors="replace") if self.spelt is None else bytes(self.spelt)

    @property
    def share(self) -> float:
        """
        Its probability.

        Raises:
            ValueError: Its logarithm is none of a probability.

        """
        if not self.logprob <= ROUNDED:  # false for NaN too
            raise ValueError
        return min(1.0, math.exp(self.logprob))


class _Token(_Alternative, frozen=True):
    top_logprobs: Sequence[_Alternative] = ()


class _Logprobs(msgspec.Struct, frozen=True):
    content: Sequence[_Token] | None = None


class Token(msgspec.Struct, frozen=True):
    """
    A token that was written.

    Attributes:
        text: Its bytes, which may be a part of a character.
        share: Its probability.
        others: Every listed alternative's bytes → probability, its own among them.

    """

    text: bytes
    share: float
    others: Mapping[bytes, float]


class Stream(msgspec.Struct, frozen=True):
    """
    The tokens of an answer.

    Attributes:
        tokens: In order.
        starts: The byte of the answer's text that each begins at; may be below 0.

    """

    tokens: Sequence[Token]
    starts: Sequence[int]

    def since(self, at: int) -> Iterator[tuple[Token, int]]:
        """Give the tokens from byte *at* on, and how many bytes of each lie before it."""
        first = bisect_right(self.starts, at) - 1
        for token, start in zip(self.tokens[first:], self.starts[first:], strict=True):
            yield token, max(0, at - start)


def stream_of(logprobs: bytes | msgspec.Raw, content: str) -> Stream | None:
    """
    Read the tokens of *content*.

    They may have others around them: thoughts before, an end mark behind.

    Returns:
        None where the server sent none, or none that spell *content*.

    """
    try:
        listed = msgspec.json.decode(logprobs, type=_Logprobs | None)
        tokens = [_token(one) for one in (listed and listed.content) or ()]
    except (*UNREADABLE, ValueError):
        return None
    begun = b"".join(token.text for token in tokens).rfind(content.encode(errors="replace"))
    if begun < 0 or not content:
        return None
    starts, at = list[int](), -begun
    for token in tokens:
        starts.append(at)
        at += len(token.text)
    return Stream(tokens, starts)


def _token(given: _Token) -> Token:
    others = {one.written: one.share for one in given.top_logprobs}
    others[given.written] = given.share
    return Token(given.written, given.share, others)


def shares(stream: Stream, at: int, codes: Sequence[str]) -> list[float]:
    """
    Give the probability of each of *codes* to stand at byte *at*, where one of them does.

    Args:
        stream: From `stream_of`.
        at: Where the written one begins.
        codes: JSON values; no one begins another.

    """
    known = [0.0] * len(codes)
    left = dict(enumerate(code.encode() for code in codes))
    path, written = 1.0, b""
    for token, before in stream.since(at):
        given, own = _alike(token, before)
        fits = {text: _fitting(written + text, left) for text in given}
        base = 1.0  # what the token is chosen from
        if len(fits[own]) == len(left):
            base = sum(given[text] for text in given if fits[text] and (text or text == own))
        for text, some in fits.items():
            if len(some) == 1 and base:
                known[some[0]] += path * given[text] / base
        left = {one: left[one] for one in fits[own]}
        if len(left) < 2 or not base:  # noqa: PLR2004 - nothing is left to tell apart
            break
        path *= given[own] / base
        written += own
    return [min(1.0, share) for share in known]  # sums of floats may miss it by an ulp


def _alike(token: Token, before: int) -> tuple[Mapping[bytes, float], bytes]:
    """
    Take alternatives together that differ in blanks alone; name the one that was written.

    Of each only what lies behind its first *before* bytes is kept, where these are the same.
    """
    lead, given = _bare(token.text[:before]), dict[bytes, float]()
    for text, share in token.others.items():
        bare = _bare(text)
        if bare.startswith(lead):
            kept = bare[len(lead) :]
            given[kept] = given.get(kept, 0.0) + share
    return given, _bare(token.text)[len(lead) :]


def _fitting(said: bytes, left: Mapping[int, bytes]) -> list[int]:
    """Name the codes of which *said* may be the beginning, or which it ends with more behind."""
    return [
        one
        for one, code in left.items()
        if code.startswith(said)
        or (said.startswith(code) and said[len(code) : len(code) + 1] in _ENDS)
    ]


def _bare(text: bytes) -> bytes:
    """Leave out blanks: a code has none, and JSON may have them around it."""
    return text.translate(None, _BLANKS)
