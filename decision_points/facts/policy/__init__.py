"""Policies: which attributes there are, and what decides between the values of each."""

from __future__ import annotations

from .attributes import EVIDENCE, KEYS, Attribute, Corroboration, Key
from .reading import policy_of, read_policy
from .rules import DisputeRules, Limits, Policy

__all__ = [
    "EVIDENCE",
    "KEYS",
    "Attribute",
    "Corroboration",
    "DisputeRules",
    "Key",
    "Limits",
    "Policy",
    "policy_of",
    "read_policy",
]
