"""
Facts told to people and models: in a prompt, in a sentence, in JSON.

What somebody wrote is data: it stands escaped, cut where it is long, and in quotation marks in a
prompt. A dispute is always told, with its values and their sources (RF-61, RF-81).
"""

from __future__ import annotations

from .escaping import escaped, named, quoted
from .explaining import explanation_of
from .explanation import Claim, Explanation, Option, Ruling
from .lines import line, prompt, standing
from .spelling import Spellings, as_said, spellings, spelt
from .words import Language, language_of

__all__ = [
    "Claim",
    "Explanation",
    "Language",
    "Option",
    "Ruling",
    "Spellings",
    "as_said",
    "escaped",
    "explanation_of",
    "language_of",
    "line",
    "named",
    "prompt",
    "quoted",
    "spellings",
    "spelt",
    "standing",
]
