"""A further model for writing reports."""

from dataclasses import dataclass

from workflows.agents.ports import ChatModel
from workflows.chat_models.endpoint import ModelPrices


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """A model and its prices."""

    chat: ChatModel
    prices: ModelPrices
