"""What a client asks our server, whatever dialect it speaks, and why it cannot be asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from ..errors import DeclarationError
from ..questions import OPTIONS, Ask, Question
from ..state import State
from ..wording import is_name
from .faults import UNREADABLE
from .reading import Key, keyed

T = TypeVar("T")
_fields: msgspec.json.Decoder[dict[Key, msgspec.Raw]]
_fields = msgspec.json.Decoder(dict[Key, msgspec.Raw], dec_hook=keyed)


class BadRequest(Exception):
    """
    A body is not of its dialect, or asks what nobody here can answer: status 400.

    Its text names the place and never repeats what stands there.

    Attributes:
        problem: What is wrong, for the one who wrote the client.
        param: Where: `questions[0].choices`; None where it is the body as a whole.
        code: From the server's list.

    """

    def __init__(
        self, problem: str, param: str | None = None, code: str = "invalid_request"
    ) -> None:
        super().__init__(problem, param)
        self.problem = problem
        self.param = param
        self.code = code

    def __str__(self) -> str:
        return f"{self.param}: {self.problem}" if self.param else self.problem


class Asked(msgspec.Struct, frozen=True):
    """
    A request as it was read.

    Attributes:
        state: What the questions are about.
        questions: By ids that are unique here; empty where the client leaves them to the point.
        model: As the client wrote it; empty if it names none.
        subject: Who the request is about, as the client identifies them.
        names: What the client calls each question, to be echoed; None for one without a name.
        booleans: Question → option → the truth that it stands for. A client may offer `true`,
            which is another choice than `"true"`, and gets back what it sent.

    """

    state: State
    questions: Mapping[str, Question]
    model: str = ""
    subject: str | None = None
    names: tuple[str | None, ...] = ()
    booleans: Mapping[str, Mapping[str, bool]] = {}

    @property
    def ask(self) -> Ask:
        """
        The ask that it is.

        Raises:
            BadRequest: It has no question.

        """
        return built("questions", lambda: Ask(self.state, self.questions))

    @property
    def called(self) -> Mapping[str, str]:
        """Question → what the client calls it; its position where it has no name of its own."""
        names = self.names or tuple(self.questions)
        return dict(zip(self.questions, unique(names), strict=True))

    def about(self, questions: Mapping[str, Question]) -> Asked:
        """Take the point's *questions* for those of the request, which are in the same order."""
        names = self.names if self.questions else tuple(questions)
        return msgspec.structs.replace(self, questions=questions, names=names)


def whole(*, stream: bool | None) -> None:
    """
    Take a request that asks for a whole answer.

    Raises:
        BadRequest: It asks for parts, which would not be understood as it hopes.

    """
    if stream:
        raise BadRequest("answers come whole, there is no stream", "stream")


def few(options: int, place: str) -> None:
    """
    Take a choice whose *options* are not too many for anybody.

    Raises:
        BadRequest: They are.

    """
    if options > OPTIONS[1]:
        raise BadRequest(f"at most {OPTIONS[1]} options are taken", place, "too_many_options")


def once(body: bytes) -> None:
    """
    Take a body none of whose fields comes twice: whoever looks after it may believe the other.

    Raises:
        BadRequest: One does.

    """
    try:
        fields = [key.name for key in _fields.decode(body)]
    except UNREADABLE:
        return  # it is no object, as its own reader will say
    if len(set(fields)) < len(fields):
        raise BadRequest("a field comes twice")


def built(place: str, make: Callable[[], T]) -> T:
    """
    Make a value of ours.

    Raises:
        BadRequest: It contradicts itself.

    """
    try:
        return make()
    except DeclarationError as fault:
        raise BadRequest(str(fault), place) from None


def unique(names: Sequence[str | None]) -> list[str]:
    """Give each question an id: its name, or its position where that is none of its own."""
    taken = {name for name in names if name is not None}
    ids: dict[str, None] = {}
    for at, name in enumerate(names):
        one = name if name is not None and is_name(name) and name not in ids else str(at)
        while one in ids or (one != name and one in taken):
            one += "'"
        ids[one] = None
    return list(ids)


def read(decoder: msgspec.json.Decoder[T], body: bytes | msgspec.Raw, kinds: str) -> T:
    """
    Decode a request's body, or a part of it.

    Args:
        decoder: For the dialect's type.
        body: As it came.
        kinds: What a question may be, in the dialect's words.

    Raises:
        BadRequest: It is no JSON, or not of the dialect; the place is named, its content is not.

    """
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as fault:
        raise _told(str(fault), kinds) from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise BadRequest("the body is no JSON in UTF-8") from None
    except RecursionError:
        raise BadRequest("the body is nested too deep") from None


def _told(text: str, kinds: str) -> BadRequest:
    """Keep of msgspec's sentence what tells types and places; a value may stand in the others."""
    problem, _, place = text.rpartition(" - at `") if " - at `" in text else (text, "", "")
    place = place.rstrip("`").removeprefix("$").removeprefix(".")
    if problem.endswith("out of range"):
        problem = "a number is out of range"
    elif not problem.startswith(("Expected `", "Object missing required field `")):
        problem = f"a question is a {kinds}"
    return BadRequest(problem[:1].lower() + problem[1:], place or None)
