"""
How models are named in texts: as they are served, and by their vendors and families.

"Claude" is also a customer, and a "llama" an animal. Such a word alone is a member only where the
panel has such a model, or where somebody speaks of itself; and what the case itself names is not
one. A word is taken for the number of a version only if it has a digit: "GPT never said so" has
none, and must not lose its "never".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["spoken", "unnamed", "vendors_of", "written"]

VENDORS = (
    ("openai", "gpt", "chatgpt"),
    ("anthropic", "claude"),
    ("deepmind", "gemini"),
    ("llama",),
    ("mistral", "mixtral"),
    ("qwen",),
    ("deepseek",),
    ("xai", "grok"),
    ("moonshot", "kimi"),
    ("jev",),
    ("openrouter",),
    ("litellm",),
)
"""Vendors, each with the families of its models."""

SHORT = 3  # letters: below, a model's name cannot be told from a word

_DIGIT = re.compile(r"\d")
_BETWEEN = re.compile(r"[-_\s]+")
_GAP = r"[-_\s]?"
_NUMBERED = re.compile(
    r"(?:[^\W\d]+[-_\s]+)*[^\W\d]*\d[^-_\s]*"
)  # up to its first part with a digit

_WORD = "|".join(sorted((word for row in VENDORS for word in row), key=len, reverse=True))
_NAMED = re.compile(
    r"(?:(?P<self>\b(?:I\s+am|I['’]m|(?:eu\s+)?sou|my\s+name\s+is|meu\s+nome\s+é"
    r"|I\s+was\s+(?:trained|made|built|created|developed)\s+by"
    r"|fui\s+(?:treinad|criad|feit)[oa]\s+pel[oa])\s+)"
    r"|(?P<as>\b(?:as|como)\s+))?"
    r"(?P<article>(?:an?|the|o|a|uma?)\s+)?"
    rf"(?<!\w)(?P<word>{_WORD})"
    r"(?P<version>(?:\d|-[\w.\-]*\d)[\w.\-]*)?"  # written onto it: GPT-4o, qwen2.5-7b
    r"(?P<apart>\s[a-z]?\d{1,2}(?:\.\d{1,2})?[a-z]?(?![\w%]|\.\d))?"  # Claude 3.5, Llama 70B
    r"(?P<size>[\s-](?:sonnet|opus|haiku|flash|turbo|mini|nano|pro|instruct)\b)?"
    r"(?<=\w)(?!\w)"
    r"(?P<after>,?\s+(?:I|eu)\b|\s+(?:trained|made|built|created)\s+me\b)?",
    re.IGNORECASE,
)


def vendors_of(names: Iterable[str]) -> frozenset[str]:
    """Give all words for the vendors and families that *names* of models belong to."""
    said = "\n".join(names).lower()
    rows = (row for row in VENDORS if any(_has(said, word) for word in row))
    return frozenset(word for row in rows for word in row)


def unnamed(text: str, put: str, vendors: frozenset[str], about: str) -> str:
    """
    Put *put* in place of what names a model in *text*.

    Args:
        text: A member's.
        put: The same for all of them.
        vendors: As `vendors_of` gives them: this panel's. Other words stay without a version.
        about: What the text is about, in lower case; a word that is named there stays, unless
            it has a version and is this panel's, or somebody speaks of itself.

    """

    def hidden(found: re.Match[str]) -> str:
        word = found["word"].lower()
        bare = not (found["version"] or found["apart"] or found["size"])
        strange = word not in vendors
        stays = (bare and strange) or ((bare or strange) and _has(about, word))
        if stays and not _own(found):
            return found[0]
        around = [found[name] or "" for name in ("self", "as", "article", "after")]
        return "".join((*around[:3], put, around[3]))

    return _NAMED.sub(hidden, text)


def _own(found: re.Match[str]) -> bool:
    """Whether somebody speaks of itself: "I am GPT", "as GPT, I …", "OpenAI trained me"."""
    after = (found["after"] or "").lstrip(", \n\t").lower()
    i_say = after in ("i", "eu")
    return bool(found["self"] or (found["as"] and i_say) or (after and not i_say))


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<![^\W_\d]){word}(?![^\W_\d])", text) is not None


def spoken(models: Iterable[str]) -> set[str]:
    """Give *models* as they are served, and as they are spoken of: without path, date and size."""
    found = {said for model in models for said in (model, *_shorter(model))}
    return {one for one in found if len(one) >= (2 if _DIGIT.search(one) else SHORT)}


def _shorter(model: str) -> Iterator[str]:
    name = model.rsplit("/", 1)[-1].split(":", 1)[0]
    if not name.isalpha():
        yield name
    if (found := _NUMBERED.match(name)) and not found[0].isdigit():
        yield found[0]


def written(name: str) -> str:
    """Give a pattern for *name*; with a digit, also with its parts set apart in other ways."""
    parts = _BETWEEN.split(name) if _DIGIT.search(name) else [name]
    return rf"(?<!\w){_GAP.join(map(re.escape, parts))}(?!\w)"
