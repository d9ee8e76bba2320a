"""The command `pointsman doctor`."""

from .asking import WORKS
from .command import STANDS_IN, doctor

__all__ = ["STANDS_IN", "WORKS", "doctor"]
