"""
How agents reach facts: as tools, and as the store of a LangGraph graph.

Whose word is written down is what the host says, never what a model says (RF-09).
"""

from __future__ import annotations
