"""
The words that were said: what of a state an encoder should read.

Averages of word vectors are easily drowned: ids, field names and instructions round a message
cost 6 to 25 points on BANKING77, earlier turns in the same text 10 on SGD. So, from any state:

1. **Messages** (`{"role": …, "content": …}`), or a text that begins with a role (`User: …`): the
   last turn of the user is *last*, the others are *earlier*. Roles are stripped. Messages of the
   roles `system`, `developer`, `tool` and `function` are nobody's words.
2. **An object** is read by the names of its fields, and then only by them:
   * *last* is the strongest kind of field that is there: `current_message` and the like; else
     `answer`, `response`, `reply`; else `message`, `text`, `user_input`, `question` and so on
     (`KINDS`). Several of one kind are read together; the weaker kinds are *earlier*;
   * *earlier* are fields called `recent_history`, `conversation`, `pending_prompt`,
     `original_client` and the like, message by message. `context` counts where it is a text or
     a list;
   * everything else is no word said: catalogues of options, agents, arguments, evidence.
3. **An object without any such last field, or a list**: all its string leaves that read as
   words (of more than one word; if there are none, single ones), except those of earlier fields.
   Ids, numbers, addresses and names_like_this do not read as words.
4. **A text that is JSON**: all its string leaves that read as words. Its fields are not trusted,
   since whoever wrote the text chose them.
5. **Any other text** is *last* as it is.
6. **One of several**: a question called `goal_2` is about the second entry of the state's list
   `goals`, if there is one; the rest of the state is *earlier*.

Of the earlier turns the newest four count. Nothing of the question ever enters.

However much there is, an ask reads so much (`bounds.py`): 2,000 characters of a text; of a
transcript those turns that begin in its last 8,000; 200 entries of a list (the first and the
last 100) and 200 fields of an object; some 2,000 fields and entries and 100,000 characters in
all, the outer ones first. A text that is JSON is read as such up to 20,000 characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

from .bounds import LONGEST, bounded, is_list, is_object

Json: TypeAlias = Any

EARLIER_TURNS = 4  # two were measured; more than four say little about the last message
LONGEST_TRANSCRIPT = 8_000  # characters from its end
LONGEST_JSON = 20_000  # characters of a text that is JSON: a few milliseconds
DEEPEST = 32  # levels of a state that are read; deeper ones are no words but an attack

KINDS = (  # of fields that hold what was said last, the strongest first; by a word of the name
    frozenset({"current", "newest", "latest", "supplement"}),
    frozenset({"answer", "response", "completion", "reply"}),
    frozenset(
        {"message", "text", "input", "utterance", "query", "question", "content", "body"}
        | {"comment", "subject", "title", "request", "description", "chunk", "transcription"}
    ),
)
EARLIER = frozenset(
    {"history", "conversation", "messages", "turns", "dialogue", "transcript", "prompt", "context"}
)
BEFORE = frozenset({"previous", "original", "earlier", "recent"})  # `original_client`
SPEAKERS = frozenset({"client", "customer", "user", "agent", "assistant", "turn"})
NOT_SAID = frozenset({"system", "developer", "tool", "function"})

_USER = "user|customer|client|human|caller|usuário|usuario|cliente|pessoa"
_OTHER = "assistant|agent|bot|ai|operator|assistente|agente|atendente"
_ROLE = re.compile(rf"^[ \t]*(?P<role>{_USER}|{_OTHER})[ \t]*:[ \t]*", re.IGNORECASE | re.MULTILINE)
_IS_USER = re.compile(_USER, re.IGNORECASE)
_ID = re.compile(r"[\d_@/\\]|\w[.:=]\w")  # within a single word: an id, a path, an address
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@dataclass(frozen=True, slots=True)
class Said:
    """
    What was said.

    Attributes:
        last: The words the questions are about; empty if the state holds none.
        earlier: The turns before, oldest first, at most four.

    """

    last: str
    earlier: tuple[str, ...] = ()


Turn: TypeAlias = tuple[bool, str]
"""Whether the user says it, and what."""


def said(state: Json) -> Said:
    """Find the words said in *state*; the module's docstring gives the rule."""
    if isinstance(state, str):
        held = bounded(_held(state), _cut)
        text = _cut(state)
        return _conversation(_spoken(text)) if held is None else Said(_joined([held]) or text)
    return _of_data(bounded(state, _cut))


def _of_data(state: Json) -> Said:
    if _is_message(state):
        return _conversation(_turns(state))
    if is_object(state):
        return _fields(state)
    if is_list(state) and any(map(_is_message, state)):
        return _conversation(_turns(state))
    return Said(_joined([state]))


def part(state: Json, question: str) -> Json:
    """
    Find the entry that a numbered *question* is about (rule 6); None if there is none.

    >>> part({"goals": ["see my bill", "buy a flight"]}, "goal_2")
    'buy a flight'

    """
    numbered = re.fullmatch(r"(.+?)[_.]?(\d{1,3})", question)
    if numbered is None or not is_object(state):
        return None
    entries, number = state.get(f"{numbered[1]}s"), int(numbered[2])
    return entries[number - 1] if is_list(entries) and 1 <= number <= len(entries) else None


def _held(text: str) -> Json:
    """Read a text that is a JSON object or array; None for any other."""
    if len(text) > LONGEST_JSON or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text) or None
    except (ValueError, RecursionError):
        return None


def _cut(text: str) -> str:
    """Keep the beginning of a long text, but the last turns of a long transcript."""
    if len(text) <= LONGEST:
        return text
    if not _ROLE.match(text[:LONGEST].lstrip()):
        return text[:LONGEST]
    role = _ROLE.search(text, max(0, len(text) - LONGEST_TRANSCRIPT))
    return text[role.start() :] if role else text[-LONGEST:]


def _conversation(turns: Sequence[Turn]) -> Said:
    """Take the user's last turn, or the very last one, and the others as earlier."""
    if not turns:
        return Said("")
    newest = max(range(len(turns)), key=lambda at: (turns[at][0], at))
    return Said(turns[newest][1], _newest([*turns[:newest], *turns[newest + 1 :]]))


def _fields(state: dict[str, Json]) -> Said:
    kinds = {name: _kind(name, value) for name, value in state.items()}
    before = [
        turn for name, kind in kinds.items() if kind is None for turn in _ordered(name, state)
    ]
    present = sorted({kind for kind in kinds.values() if kind is not None and kind < len(KINDS)})
    if not present:
        last = _joined([value for name, value in state.items() if kinds[name] is not None])
        return Said(last, _newest(before)) if last else _conversation(before)
    last, *weaker = (
        "\n".join(text for name in state if kinds[name] == kind for text in _texts(state[name]))
        for kind in present
    )
    return Said(last, _newest([*before, *((False, text) for text in weaker)]))


def _kind(name: str, value: Json) -> int | None:
    """Rank a field: 0, 1, 2 hold what was said last, 3 nothing said; None: earlier turns."""
    parts = [part.lower() for part in _NAME_PARTS.findall(name)] or [""]
    if not isinstance(value, str | list | dict):
        return len(KINDS)
    speech = parts[-1] in SPEAKERS | KINDS[1] | KINDS[2]
    if EARLIER.intersection(parts) or (BEFORE.intersection(parts) and speech):
        settings = "context" in parts and is_object(value)  # of a session, not words
        return len(KINDS) if settings else None
    if KINDS[0].intersection(parts) and speech:
        return 0
    return next((rank for rank, names in enumerate(KINDS) if parts[-1] in names), len(KINDS))


def _newest(turns: Iterable[Turn]) -> tuple[str, ...]:
    return tuple(text for _, text in turns if text)[-EARLIER_TURNS:]


def _ordered(name: str, state: dict[str, Json]) -> list[Turn]:
    turns = _turns(state[name])
    return turns[::-1] if "newest_first" in name else turns


def _turns(value: Json) -> list[Turn]:
    """Read the turns of a text, of one message, or of a list of either."""
    if isinstance(value, str):
        return _spoken(value)
    if _is_message(value):
        text = "" if value["role"] in NOT_SAID else "\n".join(_parts(value["content"]))
        return [(value["role"] == "user", text)] if text else []
    if is_list(value):
        return [turn for one in value if not is_list(one) for turn in _turns(one)]
    return [(False, _joined([value]))]


def _spoken(text: str) -> list[Turn]:
    """Split a text that begins with a role where the next role begins a line."""
    roles = list(_ROLE.finditer(text))
    if not roles or text[: roles[0].start()].strip():
        return [(True, text)] if text.strip() else []
    ends = [*(role.start() for role in roles[1:]), len(text)]
    said = ((role, text[role.end() : end].strip()) for role, end in zip(roles, ends, strict=True))
    return [(_IS_USER.fullmatch(role["role"]) is not None, words) for role, words in said if words]


def _parts(content: Json) -> list[str]:
    """Read a message's content: a text, or parts of which those with a text count."""
    if not is_list(content):
        return _texts(content)
    texts = [part.get("text") if is_object(part) else part for part in content]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _texts(value: Json) -> list[str]:
    """Read a field that is known to hold words: short ones count too."""
    if isinstance(value, str):
        return [text for _, text in _spoken(value)]
    return [leaf for leaf in _leaves(value) if _reads_as_words(leaf)]


def _joined(values: Iterable[Json]) -> str:
    """Join the leaves of *values* that read as words; single words only if there are no others."""
    leaves = [leaf for value in values for leaf in _leaves(value) if _reads_as_words(leaf)]
    return "\n".join([leaf for leaf in leaves if len(leaf.split()) > 1] or leaves)


def _leaves(value: Json, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < DEEPEST and (is_object(value) or is_list(value)):
        for one in value.values() if is_object(value) else value:
            yield from _leaves(one, depth + 1)


def _reads_as_words(text: str) -> bool:
    words = text.split()
    if not any(character.isalpha() for character in text):
        return False
    return len(words) > 1 or not _ID.search(words[0])


def _is_message(value: Json) -> TypeGuard[dict[str, Json]]:
    return is_object(value) and "content" in value and isinstance(value.get("role"), str)
