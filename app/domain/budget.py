"""Caps of a run, its consumption, and the reasons why an agent stops."""

from enum import StrEnum

from pydantic import Field

from app.domain.value import Value


class StopReason(StrEnum):
    """The reason why an agent's loop ended."""

    SUFFICIENT = "sufficient"
    MAX_TURNS = "max_turns"
    MAX_TOOL_CALLS = "max_tool_calls"
    MAX_TOKENS = "max_tokens"
    MAX_COST = "max_cost"
    MAX_TIME = "max_time"
    REPEATING = "repeating"
    BUDGET = "budget"
    NO_EVIDENCE = "no_evidence"
    FAILED = "failed"
    DROPPED = "dropped"


class Usage(Value):
    """Consumption of a call, a stage or a run. Cost is in millionths of a US dollar, so sums are exact."""

    model_calls: int = Field(default=0, ge=0)
    tool_calls: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cost_microusd: int = Field(default=0, ge=0)

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            model_calls=self.model_calls + other.model_calls,
            tool_calls=self.tool_calls + other.tool_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_microusd=self.cost_microusd + other.cost_microusd,
        )


# Far above any use, and exact in every JSON reader and database integer.
LARGEST_CAP = 10**15


class Budget(Value):
    """The hard cap of a run; `None` means uncapped. Reaching a cap pauses the run, it never destroys work."""

    max_tokens: int | None = Field(default=None, ge=1, le=LARGEST_CAP)
    max_cost_microusd: int | None = Field(default=None, ge=1, le=LARGEST_CAP)
    max_seconds: int | None = Field(default=None, ge=1, le=LARGEST_CAP)

    def is_spent_by(self, used: Usage) -> bool:
        """Return True when the tokens or the money are used up. Time is counted while agents work, and not here."""
        tokens = self.max_tokens is not None and used.tokens >= self.max_tokens
        return tokens or (self.max_cost_microusd is not None and used.cost_microusd >= self.max_cost_microusd)


class AgentLimits(Value):
    """The limits at which one deep-search agent stops by itself (its share; the run's `Budget` stands above it).

    DeepRubric section 4.1 caps tool-call turns at 10 in evaluation and 20 in training. `max_conversation_tokens` are those of one
    conversation after its opening: actions and observations, each counted once.
    """

    max_turns: int = Field(default=10, ge=1)
    max_tool_calls: int = Field(default=20, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_cost_microusd: int | None = Field(default=None, ge=1)
    max_seconds: float | None = Field(default=None, gt=0)
    max_conversation_tokens: int | None = Field(default=None, ge=1)

    def find_reached(self, turns: int, used: Usage, seconds: float) -> StopReason | None:
        """Return the first limit that is used up. It is asked before each turn, so that the last turn is a whole one."""
        limits = (
            (StopReason.MAX_TURNS, turns, self.max_turns),
            (StopReason.MAX_TOOL_CALLS, used.tool_calls, self.max_tool_calls),
            (StopReason.MAX_TOKENS, used.tokens, self.max_tokens),
            (StopReason.MAX_COST, used.cost_microusd, self.max_cost_microusd),
            (StopReason.MAX_TIME, seconds, self.max_seconds),
        )
        return next((reason for reason, value, limit in limits if limit is not None and value >= limit), None)
