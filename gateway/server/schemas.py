"""The bodies of the server's routes as JSON Schema, from the types that read and write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from ..wire import openai_types, systemone_types
from .deciding import LONGEST
from .feedback import Told

if TYPE_CHECKING:
    from .settings import ServerLimits

Schema: TypeAlias = dict[str, Any]

SAYS = {"pattern": r"\S"}  # a text that is not blank
TEXT: Schema = {"type": "string"}


def ref(name: str) -> Schema:
    """Point to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def components(limits: ServerLimits) -> Mapping[str, Schema]:
    """List every schema by its name."""
    made = {
        **_of("openai", openai_types.ServedRequest, openai_types.ServedResponse),
        **_of("systemone", systemone_types.Request[str], systemone_types.ServedResponse),
        **_of("feedback", Told),
        **_WRITTEN,
    }
    _complete(made)
    _openai(made, limits)
    _systemone(made, limits)
    made["feedback.Told"]["properties"]["decision"]["pattern"] = "^[0-9a-fA-F]{32}$"
    made["feedback.Told"]["anyOf"] = [
        {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
        for name in ("right", "label")
    ]
    return made


def _of(prefix: str, *kinds: type) -> dict[str, Schema]:
    template = f"#/components/schemas/{prefix}.{{name}}"
    _, made = msgspec.json.schema_components(kinds, ref_template=template)
    plain = json.dumps({f"{prefix}.{name}": one for name, one in made.items()})
    for generic, name in (("_str_", ""), ("[str]", ""), ("Served", "")):
        plain = plain.replace(generic, name)
    renamed: dict[str, Schema] = json.loads(plain)
    for schema in renamed.values():  # what we would say of a type to a programmer is no use here
        schema["description"] = schema.get("description", "").partition("\n")[0]
    return renamed


def _complete(made: Mapping[str, Schema]) -> None:
    """Our replies leave nothing out: what clients require is always there."""
    for name, schema in made.items():
        kind = name.partition(".")[2]
        if not kind.startswith(("Answer", "LevelProbability")):
            continue
        properties: Mapping[str, Schema] = schema["properties"]
        schema["required"] = list(properties)
        for field, one in properties.items():
            one.pop("default", None)
            if field != "name" and "anyOf" in one:
                _without_null(one)


def _without_null(schema: Schema) -> None:
    kept = [one for one in schema.pop("anyOf") if one != {"type": "null"}]
    schema.update(kept[0] if len(kept) == 1 else {"anyOf": kept})


def _openai(made: dict[str, Schema], limits: ServerLimits) -> None:
    request, choice = made["openai.Request"], made["openai.WireChoice"]
    request["required"] = ["model", "input", "questions"]
    properties = request["properties"]
    properties["model"], properties["stream"] = _MODEL, _WHOLE
    properties["input"] = ref("openai.Input")
    properties["questions"]["maxItems"] = limits.max_questions
    properties["safety_identifier"]["anyOf"][0] = {**TEXT, "maxLength": LONGEST}
    choice["properties"]["choices"].update(maxItems=limits.max_options, uniqueItems=True)
    made["openai.WireScore"]["properties"]["levels"]["uniqueItems"] = True
    for kind in ("Predicate", "Choice", "Score"):
        made[f"openai.Wire{kind}"]["properties"]["instructions"] = ref("openai.Instructions")
    _met(made["openai.Response"])


def _systemone(made: dict[str, Schema], limits: ServerLimits) -> None:
    request = made["systemone.Request"]
    request["required"] = ["model", "state", "questions"]
    properties = request["properties"]
    for media in ("assets", "images", "audio", "videos"):
        del properties[media]
    properties["model"], properties["stream"] = _MODEL, _WHOLE
    properties["user"]["anyOf"][0] = {**TEXT, "maxLength": LONGEST}
    properties["questions"]["maxProperties"] = limits.max_questions
    noul, choice = made["systemone.NoulQuestion"], made["systemone.ChoiceQuestion"]
    noul["anyOf"] = [
        {"required": ["instructions"], "properties": {"instructions": ref("systemone.Said")}},
        {
            "required": ["criteria"],
            "properties": {
                "criteria": {"type": "object", "anyOf": [_told("true"), _told("false")]}
            },
        },
    ]
    choice["properties"]["criteria"]["maxProperties"] = limits.max_options
    made["systemone.ScoreQuestion"]["properties"]["criteria"]["items"] = ref("systemone.Said")
    _met(made["systemone.Response"])


def _told(meaning: str) -> Schema:
    return {"required": [meaning], "properties": {meaning: ref("systemone.Said")}}


def _met(response: Schema) -> None:
    response["properties"]["provider_metadata"] = ref("Metadata")
    response["required"] = [*response["required"], "provider_metadata"]


def _object(required: Mapping[str, Schema], **optional: Schema) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": list(required),
    }


_MODEL: Schema = {
    **TEXT,
    "minLength": 1,
    "description": "`point:NAME` for a decision point, or a provider; GET /v1/models lists them.",
}
_WHOLE: Schema = {"enum": [False, None], "description": "Answers come whole."}
_KIND = "type"
_PART: Schema = {
    "anyOf": [
        *(
            _object({_KIND: {"const": kind}, field: TEXT})
            for kind, field in (
                ("input_text", "text"),
                ("output_text", "text"),
                ("refusal", "refusal"),
            )
        ),
        _object(
            {
                _KIND: {"const": "input_json"},
                "data": {"anyOf": [{"type": "object"}, {"type": "array"}]},
            }
        ),
    ]
}
_CONTENT: Schema = {"anyOf": [TEXT, {"type": "array", "items": ref("openai.Part")}]}
_ITEMS: tuple[Schema, ...] = (
    _object(
        {"role": {"enum": ["user", "developer", "system", "assistant"]}, "content": _CONTENT},
        type={"const": "message"},
    ),
    *(
        _object({_KIND: {"const": kind}, "call_id": TEXT, "name": TEXT, field: TEXT})
        for kind, field in (("function_call", "arguments"), ("custom_tool_call", "input"))
    ),
    _object(
        {
            _KIND: {"enum": ["function_call_output", "custom_tool_call_output"]},
            "call_id": TEXT,
            "output": _CONTENT,
        }
    ),
)
_SAYING: Schema = {
    "anyOf": [
        _object({_KIND: {"const": "input_json"}}),
        _object({"text": {**TEXT, **SAYS}}),
        _object({"refusal": {**TEXT, **SAYS}}),
    ]
}
_MET: Schema = {
    "pointsman": _object(
        {
            "decision": {**TEXT, "description": "Its id, for POST /v1/feedback."},
            "provider": {**TEXT, "description": "Who decided; empty if nobody did."},
            "model": TEXT,
            "reason": {**TEXT, "description": "From a closed list; `ok` for a sound answer."},
            "fallback": {"type": "boolean", "description": "The current provider stood in."},
            "undecided": {"type": "boolean", "description": "The point's safe outcome stands in."},
            "cached": {"type": "boolean"},
        },
        outcome={
            "description": "What is safe to act on where nobody decided; or what was decided, "
            "where it came without a number: a truth, a calculation, a rule's or a person's word."
        },
        sources={"type": "object", "additionalProperties": TEXT},
        turnout=_object(
            {
                "responded": {"type": "integer"},
                "expected": {"type": "integer"},
                "missing": {"type": "object", "additionalProperties": TEXT},
            }
        ),
    ),
}
_LISTED: Mapping[str, Schema] = {
    "id": TEXT,
    "object": {"const": "model"},
    "created": {"type": "integer"},
    "owned_by": TEXT,
}
_NAMED: Mapping[str, Schema] = {
    "name": TEXT,
    "description": TEXT,
    "release_date": {**TEXT, "format": "date"},
}
_WRITTEN: Mapping[str, Schema] = {
    "openai.Input": {
        "description": "Text, or items; each output belongs to a call before it.",
        "anyOf": [
            TEXT,
            {"type": "array", "minItems": 1, "items": {"anyOf": list(_ITEMS)}},
        ],
    },
    "openai.Part": _PART,
    "openai.Instructions": {
        "description": "The question itself: text, or parts.",
        "anyOf": [
            {**TEXT, **SAYS},
            {
                "type": "array",
                "minItems": 1,
                "items": ref("openai.Part"),
                "contains": _SAYING,
            },
        ],
    },
    "systemone.Said": {
        "description": "Text that is not blank, or JSON that says as much.",
        "anyOf": [{**TEXT, **SAYS}, {"type": "object"}, {"type": "array"}],
    },
    "Metadata": _object(
        _MET,
        gateway=_object({"cost": {**TEXT, "description": "US dollars, as a decimal."}}),
    ),
    "openai.Error": _object(
        {
            "error": _object(
                {
                    "message": TEXT,
                    _KIND: TEXT,
                    "param": {"type": ["string", "null"]},
                    "code": {**TEXT, "description": "From a closed list."},
                }
            )
        }
    ),
    "systemone.Error": _object({"detail": _object({"error_type": TEXT, "message": TEXT})}),
    "Models": _object(
        {
            "object": {"const": "list"},
            "data": {"type": "array", "items": _object(_LISTED)},
            "models": {"type": "array", "items": _object(_NAMED)},
        }
    ),
    "Model": _object({**_LISTED, **_NAMED}),
    "Feedback": _object({"object": {"const": "feedback"}, "decision": TEXT}),
    "Health": _object({"status": {"const": "ok"}}),
    "Readiness": _object(
        {"status": {"enum": ["ok", "degraded", "draining"]}},
        faults={"type": "array", "items": _object({"provider": TEXT, "reason": TEXT})},
        journal={"enum": ["database_down", "spool_down"]},
    ),
}
