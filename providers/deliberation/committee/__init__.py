"""A committee as a provider: independent answers and a vote, or a debate before it."""

from .provider import Committee, committee
from .settings import CommitteeSettings

__all__ = ["Committee", "CommitteeSettings", "committee"]
