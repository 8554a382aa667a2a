"""What the next model call may spend at most: reserved before it is made, so that parallel agents together keep the cap."""

from collections.abc import Iterable

from app.domain.chat import ChatRequest, Completion, Message
from app.runs.storage.run_log import NOTHING, Reservation
from workflows.chat_models.endpoint import Prices

# No tokenizer is asked: three bytes a token is more tokens than English or Chinese text has.
BYTES_PER_TOKEN = 3
# What an observation usually adds to an agent's next prompt.
USUAL_GROWTH = 4_000
# A stage's first call, before its prompt is known.
FIRST_PROMPT = 2_000
FIRST_ANSWER = 2_000


def room_for(prices: Prices, input_tokens: int, output_tokens: int) -> Reservation:
    """What a call of this size may spend."""
    return Reservation(input_tokens + output_tokens, prices.cost(input_tokens, output_tokens))


def first_call(prices: Prices) -> Reservation:
    """Room for a stage's first call."""
    return room_for(prices, FIRST_PROMPT, FIRST_ANSWER)


class Allowance:
    """One agent's reservation, and how long its prompt is by now."""

    def __init__(self, prices: Prices, held: Reservation = NOTHING) -> None:
        self.held = held
        self._prices = prices
        self._known_tokens = 0

    def needed(self, request: ChatRequest, carried: int, grown: bool) -> Reservation:
        """Room for this request. Where it only adds to the agent's last one (`grown`), that one's real size counts."""
        before = self._known_tokens if grown else 0
        added = request.messages[carried:] if grown else request.messages
        return room_for(self._prices, before + tokens_at_most(added), request.max_tokens)

    def covers(self, need: Reservation) -> bool:
        """True when what is held is enough."""
        return need.tokens <= self.held.tokens and need.cost_microusd <= self.held.cost_microusd

    def following(self, request: ChatRequest, completion: Completion) -> Reservation:
        """Room for the agent's next call, as far as this one tells."""
        self._known_tokens = completion.usage.input_tokens
        grown = completion.usage.tokens + USUAL_GROWTH
        return room_for(self._prices, grown, request.max_tokens)


def tokens_at_most(messages: Iterable[Message]) -> int:
    """An upper bound for usual text."""
    return sum(len(message.content.encode()) // BYTES_PER_TOKEN + 8 for message in messages)
