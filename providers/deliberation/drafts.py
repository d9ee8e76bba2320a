"""What members are asked to write: its form as a schema, others' words in fences, and the caps."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar, cast

import msgspec

from ...gateway.errors import NoAnswer, Reason
from ...gateway.plugins import Draft
from ...gateway.questions import Ask
from ...gateway.state import State, frozen

POINTS = 6  # of one critique that are passed on
CAP = 2_000  # characters of one text that are passed on
FENCE = "~~~"
FORMS = 512  # whose schemas are remembered

DROPPED = ("title", "description", "default", "minLength", "maxLength", "pattern", "format")
"""What servers that keep to a schema do not take; the form itself checks it when it is read."""

SAID = (  # how msgspec begins what it finds wrong → what that is called here
    ("Invalid enum value", Reason.UNDECLARED_OPTION),
    ("Object missing", Reason.INCOMPLETE),
    ("Object contains unknown", Reason.MISMATCHED),
    ("Expected `float` ", Reason.INVALID_NUMBER),
    ("Expected `int` ", Reason.INVALID_NUMBER),
    ("Expected `array` of", Reason.INCOMPLETE),
    ("Expected `str` of", Reason.INCOMPLETE),
)

Form = TypeVar("Form", bound=msgspec.Struct)


@lru_cache(FORMS)
def schema_of(form: type[msgspec.Struct]) -> Mapping[str, Any]:
    """
    Write the JSON schema of *form* as strict servers want it.

    Every object is closed and all of its properties are required, references are put in place,
    and what such servers refuse is left out. It is made once for a form: do not change it.
    """
    schema = msgspec.json.schema(form)
    known = cast("Mapping[str, Any]", schema.get("$defs", {}))
    return cast("Mapping[str, Any]", _strict(schema, known))


def _strict(node: object, known: Mapping[str, Any]) -> object:
    if isinstance(node, list):
        return [_strict(one, known) for one in cast("list[object]", node)]
    if not isinstance(node, Mapping):
        return node
    given = cast("Mapping[str, Any]", node)
    if "$ref" in given:
        return _strict(known[given["$ref"].rpartition("/")[2]], known)
    made = {name: _strict(one, known) for name, one in given.items() if name not in DROPPED}
    made.pop("$defs", None)
    options: Any = made.get("enum", ())
    if options and all(isinstance(one, str) for one in options):
        made = {"type": "string", **made}
    if "properties" in made:
        fields = {name: _strict(one, known) for name, one in given["properties"].items()}
        made |= {"properties": fields, "required": list(fields), "additionalProperties": False}
    return made


def read(text: str, form: type[Form]) -> Form:
    """
    Read what was written, strictly: nothing is coerced, repaired or guessed.

    A form may say more in its `__post_init__`: a `ValueError` there is `malformed`, and a
    `NoAnswer` keeps its own reason.

    Raises:
        NoAnswer: `malformed` (no JSON, a key twice), `invalid_number` (NaN, out of range),
            `wrong_type`, `undeclared_option`, `incomplete` or `mismatched`.

    """
    try:
        plain = json.loads(
            text,
            object_pairs_hook=_once,
            parse_constant=_refused,
            parse_float=_finite,
        )
    except (ValueError, RecursionError):
        raise NoAnswer(Reason.MALFORMED) from None
    try:
        return msgspec.convert(plain, form)
    except msgspec.ValidationError as error:
        raise NoAnswer(_reason(str(error))) from None


def plain_of(said: msgspec.Struct) -> Mapping[str, Any]:
    """Give a form that was read as plain values that can be written down."""
    plain: Any = frozen(msgspec.to_builtins(said))[0]
    return cast("Mapping[str, Any]", plain)


def handed(draft: Draft) -> Draft:
    """Give *draft* as one member is handed it: what it changes of that, nobody else ever sees."""
    made = copy.copy(draft)
    msgspec.structs.force_setattr(made, "state", own(draft.state, draft.text))
    msgspec.structs.force_setattr(made, "schema", copy.deepcopy(draft.schema))
    return made


def handed_ask(ask: Ask) -> Ask:
    """Give *ask* as one member is handed it, as `handed` does."""
    made = copy.copy(ask)
    msgspec.structs.force_setattr(made, "state", own(ask.state, ask.text))
    return made


def own(state: State, text: str) -> State:
    """Give a *state*, whose text is *text*, as plain values of its own; a text stays one."""
    return text if isinstance(state, str) else json.loads(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise NoAnswer(Reason.MALFORMED)
    return made


def _refused(_: str) -> float:
    raise NoAnswer(Reason.INVALID_NUMBER)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NoAnswer(Reason.INVALID_NUMBER)
    return number


def _reason(found: str) -> Reason:
    for begins, reason in SAID:
        if found.startswith(begins):
            return reason
    return Reason.WRONG_TYPE if ", got `" in found else Reason.MALFORMED


def fenced(text: str, cap: int = CAP) -> str:
    """
    Put another's words between fences that they cannot close, cut to *cap* characters.

    They are data for whoever reads them, and look like nothing else.
    """
    told = " ".join(text.replace(FENCE, "").split("\x00"))
    cut = told if len(told) <= cap else f"{told[: cap - 1]}…"
    return f"{FENCE}\n{cut}\n{FENCE}"
