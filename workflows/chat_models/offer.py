"""A further model that reports may be written with."""

from dataclasses import dataclass

from workflows.agents.ports import ChatModel
from workflows.chat_models.endpoint import Prices


@dataclass(frozen=True, slots=True)
class Offer:
    """The model, and what it costs."""

    chat: ChatModel
    prices: Prices
