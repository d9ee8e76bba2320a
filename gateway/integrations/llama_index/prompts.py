"""The prompts of what decides today, where a class of LlamaIndex stands in for it."""

from __future__ import annotations

from llama_index.core.prompts.mixin import PromptDictType, PromptMixin, PromptMixinType


class TodaysPrompts(PromptMixin):
    """Has no prompts of its own; those of *current* are read and set through it."""

    _current: PromptMixin

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """Have none of its own."""

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"current": self._current}
