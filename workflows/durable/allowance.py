"""The most that the next model call may spend. It is reserved before the call, so that parallel agents together keep the cap."""

from collections.abc import Iterable

from app.domain.chat import ChatRequest, Completion, Message
from app.runs.storage.run_log import NOTHING, Reservation
from workflows.chat_models.endpoint import ModelPrices

# No tokenizer is asked: three bytes a token is more tokens than English or Chinese text has.
BYTES_PER_TOKEN = 3
# What an observation usually adds to an agent's next prompt.
USUAL_GROWTH = 4_000
# A stage's first call, before its prompt is known.
FIRST_PROMPT = 2_000
FIRST_ANSWER = 2_000


def reserve_for(prices: ModelPrices, input_tokens: int, output_tokens: int) -> Reservation:
    """Return what a call of this size may spend."""
    return Reservation(input_tokens + output_tokens, prices.cost_of(input_tokens, output_tokens))


def reserve_first_call(prices: ModelPrices) -> Reservation:
    """Return the reservation for a stage's first call."""
    return reserve_for(prices, FIRST_PROMPT, FIRST_ANSWER)


class AgentAllowance:
    """One agent's reservation, and the current length of its prompt."""

    def __init__(self, held: Reservation = NOTHING) -> None:
        self.held = held
        self._known_tokens = 0

    def reserve_request(self, prices: ModelPrices, request: ChatRequest, carried: int, grown: bool) -> Reservation:
        """Return the reservation for this request at the prices of the model that it is for.

        If it only adds to the last one (`grown`), and this attempt made that one, the last one's real size counts.
        """
        known = self._known_tokens if grown else 0
        added = request.messages[carried:] if known else request.messages
        return reserve_for(prices, known + bound_tokens(added), request.max_tokens)

    def covers(self, need: Reservation) -> bool:
        """Say whether the held reservation is enough."""
        return need.tokens <= self.held.tokens and need.cost_microusd <= self.held.cost_microusd

    def reserve_next(self, prices: ModelPrices, request: ChatRequest, completion: Completion) -> Reservation:
        """Return the reservation for the agent's next call, estimated from this one."""
        self._known_tokens = completion.usage.input_tokens
        grown = completion.usage.tokens + USUAL_GROWTH
        return reserve_for(prices, grown, request.max_tokens)


def bound_tokens(messages: Iterable[Message]) -> int:
    """Return an upper bound of the number of tokens, for usual text."""
    return sum(len(message.content.encode()) // BYTES_PER_TOKEN + 8 for message in messages)
