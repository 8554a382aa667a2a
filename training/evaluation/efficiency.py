"""The data series of MindDR's Fig. 9: accuracy against tool calls and context, and under limits of either.

    attempts = [Attempt.of(trajectory, correct) ...]        # one system, one attempt a question
    efficiency(attempts)                                    # a point of the upper plots
    under_limits(attempts, TOOL_CALL_LIMITS, tool_calls_of) # a line of the lower ones

`under_limits` reads limits off runs that had none: an attempt counts as right under a limit when it is right and stayed within
it. That is a lower bound, since an agent that knows its limit may stop in time. Where a system was run again under each limit,
`efficiency` of those attempts is the measured value instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from app.domain.missing import Missing
from app.domain.trajectory import Trajectory, TurnKind
from training.evaluation.preference_metrics import Interval, bootstrapped
from training.rewards.score import Score, present

CONTEXT_LIMITS = (16_384, 32_768, 65_536, 131_072)
TOOL_CALL_LIMITS = (8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer to one question. `context_tokens` is the longest context of any of its model turns, the answer included."""

    correct: bool | Missing
    tool_calls: int
    context_tokens: int

    @classmethod
    def of(cls, trajectory: Trajectory, correct: bool | Missing) -> "Attempt":
        """What a stored trajectory took."""
        calls = sum(turn.kind is TurnKind.TOOL for turn in trajectory.turns)
        context = max((turn.completion.usage.tokens for turn in trajectory.turns if turn.completion), default=0)
        return cls(correct, calls, context)


@dataclass(frozen=True, slots=True)
class Efficiency:
    """Accuracy with its bootstrap interval, and what an attempt took on average."""

    accuracy: Interval | Missing
    tool_calls: float
    context_tokens: float
    attempts: int


class AtLimit(NamedTuple):
    """Accuracy under one limit."""

    limit: int
    accuracy: Interval | Missing


def efficiency(attempts: Sequence[Attempt]) -> Efficiency:
    """One system's point. A verdict that is missing makes accuracy missing: it is no wrong answer.

    Raises:
        ValueError: there is no attempt.
    """
    if not attempts:
        raise ValueError("no attempt to measure")
    count = len(attempts)
    return Efficiency(
        accuracy=_accuracy(attempts, lambda _: True),
        tool_calls=sum(attempt.tool_calls for attempt in attempts) / count,
        context_tokens=sum(attempt.context_tokens for attempt in attempts) / count,
        attempts=count,
    )


def under_limits(attempts: Sequence[Attempt], limits: Sequence[int], used: Callable[[Attempt], int]) -> list[AtLimit]:
    """Accuracy under each limit of what `used` counts, as a lower bound; it never falls with a larger limit."""
    return [AtLimit(limit, _accuracy(attempts, partial(_within, used, limit))) for limit in limits]


def _within(used: Callable[[Attempt], int], limit: int, attempt: Attempt) -> bool:
    return used(attempt) <= limit


def tool_calls_of(attempt: Attempt) -> int:
    """What a tool-call limit counts."""
    return attempt.tool_calls


def context_of(attempt: Attempt) -> int:
    """What a context limit counts."""
    return attempt.context_tokens


def _accuracy(attempts: Sequence[Attempt], within: Callable[[Attempt], bool]) -> Interval | Missing:
    verdicts = present(attempt.correct for attempt in attempts)
    if isinstance(verdicts, Missing):
        return verdicts
    right = [float(correct and within(attempt)) for correct, attempt in zip(verdicts, attempts, strict=True)]
    return bootstrapped(_mean, right)


def _mean(values: Sequence[float]) -> Score:
    return sum(values) / len(values) if values else Missing("no attempts")
