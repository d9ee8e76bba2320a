"""Which backend takes a message, before any backend has seen it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

from ..gateway.points import DecisionPoint, OptionsFrom
from ..gateway.questions import Choice
from .reading import Said, word
from .shares import SUPERVISOR, fields

NONE = "NONE"


class SupervisorState(TypedDict, total=False):
    """
    What GLOBAL_SUPERVISOR sees.

    One more field must be given and is not sent: `backends`, the enabled entries of the
    registry, each with an `id`, an option, and a one-line `description`.

    Attributes:
        message: What is to be forwarded.
        history: The last items of the conversation, six at most.
        metadata: What came along with the request.

    """

    message: Required[str]
    history: Sequence[Any]
    metadata: Mapping[str, Any]


GLOBAL_SUPERVISOR = DecisionPoint(
    name="GLOBAL_SUPERVISOR",
    questions={
        "en": {
            "backend": Choice(
                "Which backend should take this message?",
                {"NONE": "Cannot tell from the message"},
                sentinel=NONE,
                abstains=True,
                open=True,
            ),
        },
        "pt": {
            "backend": Choice(
                "Qual backend deve receber esta mensagem?",
                {"NONE": "Não dá para saber pela mensagem"},
                sentinel=NONE,
                abstains=True,
                open=True,
            ),
        },
    },
    reads=fields(SupervisorState),
    words="message",
    options={"backend": OptionsFrom("backends", "id", "description")},
    safe=NONE,  # the rule decision, in the end the default backend
    share=SUPERVISOR,
)


def backend(outcome: Said, registry: Sequence[str | Mapping[str, Any]]) -> str | None:
    """
    Say to which backend of the *registry* the message goes; None: the rule decision stands.

    A20: no fitting backend is no answer, whoever says so; and so is one that is not there.

    Args:
        outcome: What was decided.
        registry: The enabled backends: their entries, as in the state, or their ids alone.

    """
    ids = [one if isinstance(one, str) else str(one.get("id")) for one in registry]
    return word(outcome, [one for one in ids if one != NONE]) or None
