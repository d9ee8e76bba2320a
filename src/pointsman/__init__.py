"""
Pointsman: the decision-provider gateway for agent systems.

An agent system makes dozens of small decisions per turn. Pointsman lets you change who
decides, one decision point at a time, by an environment variable.
"""

from .gateway.answers import Answer, Chosen, Held, Refused, Reply, Scored, Stated, Usage
from .gateway.consulting import Consultation
from .gateway.errors import (
    DeclarationError,
    Fault,
    HumanNeeded,
    JournalDown,
    NoAnswer,
    PointsmanError,
    Reason,
    SetupError,
)
from .gateway.frames import Frame
from .gateway.gateway import Gateway
from .gateway.guarding import Guard, Ruling
from .gateway.lens import Lens
from .gateway.masking import MaskOffer
from .gateway.offering import HostMinimum, Hybrid, OptionsFrom, Repeat
from .gateway.plugins import (
    Call,
    Draft,
    HttpRequest,
    HttpResponse,
    Limits,
    Offer,
    Provider,
    Setup,
    Written,
    hookimpl,
)
from .gateway.points import Calculator, DecisionPoint
from .gateway.questions import Ask, Choice, Predicate, Score, When
from .gateway.records import Attempt, Decision, Record, Recorder
from .gateway.settings import Plan, Settings
from .gateway.turns.turn import Turn
from .providers.scripted import scripted

__all__ = [
    "Answer",
    "Ask",
    "Attempt",
    "Calculator",
    "Call",
    "Choice",
    "Chosen",
    "Consultation",
    "Decision",
    "DecisionPoint",
    "DeclarationError",
    "Draft",
    "Fault",
    "Frame",
    "Gateway",
    "Guard",
    "Held",
    "HostMinimum",
    "HttpRequest",
    "HttpResponse",
    "HumanNeeded",
    "Hybrid",
    "JournalDown",
    "Lens",
    "Limits",
    "MaskOffer",
    "NoAnswer",
    "Offer",
    "OptionsFrom",
    "Plan",
    "PointsmanError",
    "Predicate",
    "Provider",
    "Reason",
    "Record",
    "Recorder",
    "Refused",
    "Repeat",
    "Reply",
    "Ruling",
    "Score",
    "Scored",
    "Settings",
    "Setup",
    "SetupError",
    "Stated",
    "Turn",
    "Usage",
    "When",
    "Written",
    "hookimpl",
    "scripted",
]
