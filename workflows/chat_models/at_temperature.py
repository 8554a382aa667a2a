"""A model that answers every request at one temperature, whatever the request says."""

from dataclasses import dataclass

from app.domain.chat import ChatRequest, Completion
from workflows.agents.ports import ChatModel


@dataclass(frozen=True, slots=True)
class AtTemperature:
    """Passes everything on to `model` but the temperature."""

    model: ChatModel
    temperature: float

    @property
    def name(self) -> str:
        """The model's own name: it is served by the same server, which is away or not for both."""
        return self.model.name

    async def complete(self, request: ChatRequest) -> Completion:
        """One answer to one request. Raises what the model raises."""
        return await self.model.complete(request.model_copy(update={"temperature": self.temperature}))
