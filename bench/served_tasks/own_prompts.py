"""A model that is asked within what it learned: its prompt, where that is not the product's, and the length of its answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.domain.chat import ChatRequest, Completion, Message
from workflows.agents.ports import ChatModel

Reword: TypeAlias = Callable[[Sequence[Message]], Sequence[Message]]
MOST_TOKENS = 256
"""The most tokens of an answer. Training allowed 24 to 80; what a tiny policy never saw it answers without an end."""


@dataclass(frozen=True, slots=True)
class AskedAsTrained:
    """Passes requests on with other messages, for short answers.

    A tiny policy has the few texts of its task as single tokens, and nothing of what the product says beside them.
    """

    model: ChatModel
    reword: Reword = tuple

    @property
    def name(self) -> str:
        """The model's own name."""
        return self.model.name

    async def complete(self, request: ChatRequest) -> Completion:
        """Return one answer. Raises what the model raises."""
        within = {"messages": tuple(self.reword(request.messages)), "max_tokens": min(MOST_TOKENS, request.max_tokens)}
        return await self.model.complete(request.model_copy(update=within))
