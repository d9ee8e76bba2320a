"""Drawings of an evaluation: SVG by hand, for light and dark, for eyes and for screen readers."""

from .bars import Bar, bars
from .canvas import Markup
from .costs import CostMark, cost_curve
from .coverage import Mark, risk_coverage
from .matrix import confusion
from .reliability import BinView, reliability

__all__ = [
    "Bar",
    "BinView",
    "CostMark",
    "Mark",
    "Markup",
    "bars",
    "confusion",
    "cost_curve",
    "reliability",
    "risk_coverage",
]
