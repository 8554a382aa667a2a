"""A model that is asked what it learned from, where that is not the prompt of the product."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from app.domain.chat import ChatRequest, Completion, Message
from workflows.agents.ports import ChatModel

Reword: TypeAlias = Callable[[Sequence[Message]], Sequence[Message]]


@dataclass(frozen=True, slots=True)
class AskedAsTrained:
    """Passes requests on with other messages.

    A tiny policy has the few texts of its task as single tokens, and nothing of what the product says beside them.
    """

    model: ChatModel
    reword: Reword

    @property
    def name(self) -> str:
        """The model's own name."""
        return self.model.name

    async def complete(self, request: ChatRequest) -> Completion:
        """Return one answer. Raises what the model raises."""
        return await self.model.complete(request.model_copy(update={"messages": tuple(self.reword(request.messages))}))
