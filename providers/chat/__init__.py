"""Any OpenAI-compatible chat model as a decider."""

from __future__ import annotations

from .provider import Chat, chat
from .settings import ChatSettings

__all__ = ["Chat", "ChatSettings", "chat"]
