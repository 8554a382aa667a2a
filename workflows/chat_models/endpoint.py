"""Where a model is served and on what terms."""

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

from app.domain.budget import Usage


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait: to be connected, between two pieces of a streamed answer, for a whole answer."""

    connect: timedelta = timedelta(seconds=10)
    idle: timedelta = timedelta(minutes=3)
    total: timedelta = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens, which is the same as millionths of a dollar per token."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)

    def cost(self, input_tokens: int, output_tokens: int) -> int:
        """Millionths of a dollar, rounded."""
        return round(self.input * input_tokens + self.output * output_tokens)

    def bill(self, input_tokens: int, output_tokens: int) -> Usage:
        """The account of one model call."""
        cost = self.cost(input_tokens, output_tokens)
        return Usage(model_calls=1, input_tokens=input_tokens, output_tokens=output_tokens, cost_microusd=cost)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server and the model to ask for. `base_url` ends in `/v1` as a rule; the key never prints.

    `max_answer_bytes` bounds what is read of one response, headers aside.
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    prices: Prices = Prices()
    timeouts: Timeouts = Timeouts()
    stream: bool = True
    proxy: str | None = None
    max_answer_bytes: int = 8_000_000

    @property
    def url(self) -> str:
        """The address of chat completions."""
        return f"{self.base_url.rstrip('/')}/chat/completions"
