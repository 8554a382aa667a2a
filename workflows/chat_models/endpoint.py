"""The address of a model, its time-outs and its prices."""

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

from app.domain.budget import Usage
from app.outgoing.way_out import address_of, carry_key, describe_way, find_proxy, is_on_this_machine


@dataclass(frozen=True, slots=True)
class Timeouts:
    """The longest waits: for a connection, for the first token, and between two tokens.

    A stream may take as long as its tokens keep coming; signs of life without a token do not count. Without a stream the first
    token comes with the last, so `first` is the wait for the whole answer. Of a call that is watched (`CallWatch`) only `connect`
    counts: who watches it ends it.
    """

    connect: timedelta = timedelta(seconds=10)
    first: timedelta = timedelta(minutes=15)
    idle: timedelta = timedelta(minutes=3)


@dataclass(frozen=True, slots=True)
class ModelPrices:
    """US dollars per million tokens, which is the same as millionths of a dollar per token."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)

    def cost_of(self, input_tokens: int, output_tokens: int) -> int:
        """Return the cost in millionths of a dollar, rounded."""
        return round(self.input * input_tokens + self.output * output_tokens)

    def bill(self, input_tokens: int, output_tokens: int) -> Usage:
        """Return the usage of one model call."""
        cost = self.cost_of(input_tokens, output_tokens)
        return Usage(model_calls=1, input_tokens=input_tokens, output_tokens=output_tokens, cost_microusd=cost)


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """An OpenAI-compatible server and the model to ask for. `base_url` usually ends in `/v1`; the key is never printed.

    `max_answer_bytes` limits how much of a response body is read. `top_p` is sent with each request; None: the server's own.
    """

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)
    prices: ModelPrices = ModelPrices()
    timeouts: Timeouts = Timeouts()
    stream: bool = True
    top_p: float | None = None
    max_answer_bytes: int = 8_000_000

    @property
    def on_this_machine(self) -> bool:
        """Whether the server is on this machine, by its address."""
        return is_on_this_machine(self.base_url)

    @property
    def url(self) -> str:
        """The address of chat completions."""
        return address_of(self.base_url, "chat/completions")

    @property
    def key_header(self) -> dict[str, str]:
        """The header that carries the key; none without one."""
        return carry_key(self.base_url, self.api_key)

    @property
    def proxy(self) -> str | None:
        """The proxy that the environment names for the server."""
        return find_proxy(self.base_url)

    @property
    def way(self) -> str:
        """The address as messages show it: with the proxy that leads there, and without user and password."""
        return describe_way(self.url)
