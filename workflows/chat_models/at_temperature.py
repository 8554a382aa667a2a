"""A model that answers every request at one fixed temperature."""

from dataclasses import dataclass, replace

from app.domain.chat import ChatRequest, Completion
from workflows.agents.ports import ChatModel


@dataclass(frozen=True, slots=True)
class ModelAtTemperature:
    """Passes requests on to `model` with its own temperature."""

    model: ChatModel
    temperature: float

    @property
    def name(self) -> str:
        """The model's own name, because both have the same server and so the same outages."""
        return self.model.name

    async def complete(self, request: ChatRequest) -> Completion:
        """Return one answer to one request. Raises what the model raises."""
        return await self.model.complete(request.model_copy(update={"temperature": self.temperature}))


def fix_temperature(model: ChatModel, temperature: float | None) -> ChatModel:
    """Return the model at this temperature instead of one that was fixed before; None leaves it as it is."""
    if temperature is None:
        return model
    if isinstance(model, ModelAtTemperature):
        return replace(model, temperature=temperature)
    return ModelAtTemperature(model, temperature)
