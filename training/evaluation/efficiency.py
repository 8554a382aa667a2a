"""Accuracy under limits of tool calls and context (the lower data series of MindDR's Fig. 9).

    attempts = [MeasuredAttempt.of(trajectory, correct) ...]            # one system, one attempt a question
    accuracy_under_limits(attempts, TOOL_CALL_LIMITS, tool_calls_of)    # a line of the plot

The figure is estimated from runs without limits: an attempt counts as right under a limit when it is right and stayed within it.
That is a lower bound, since an agent that knows its limit may stop in time. Where a system was run again under each limit
(`harness/caps.py`), the accuracy of those runs is the measured value (`harness/limits_page.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from app.domain.missing import Missing
from app.domain.trajectory import Trajectory, TurnKind
from training.evaluation.intervals import Interval, share_interval
from training.rewards.score import require_present

CONTEXT_LIMITS = (16_384, 32_768, 65_536, 131_072)
TOOL_CALL_LIMITS = (8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class MeasuredAttempt:
    """One answer to one question. `context_tokens` is the longest context of its model turns, with the answer."""

    correct: bool | Missing
    tool_calls: int
    context_tokens: int

    @classmethod
    def of(cls, trajectory: Trajectory, correct: bool | Missing) -> "MeasuredAttempt":
        """Count what a stored trajectory used."""
        calls = sum(turn.kind is TurnKind.TOOL for turn in trajectory.turns)
        context = max((turn.completion.usage.tokens for turn in trajectory.turns if turn.completion), default=0)
        return cls(correct, calls, context)


class LimitAccuracy(NamedTuple):
    """Accuracy under one limit."""

    limit: int
    accuracy: Interval | Missing


def accuracy_under_limits(
    attempts: Sequence[MeasuredAttempt], limits: Sequence[int], used: Callable[[MeasuredAttempt], int]
) -> list[LimitAccuracy]:
    """Return a lower bound of the accuracy under each limit of what `used` counts. It never falls with a larger limit.

    A missing verdict makes the accuracy missing, because it is no wrong answer.
    """
    return [LimitAccuracy(limit, _accuracy_of(attempts, partial(_is_within, used, limit))) for limit in limits]


def _is_within(used: Callable[[MeasuredAttempt], int], limit: int, attempt: MeasuredAttempt) -> bool:
    return used(attempt) <= limit


def tool_calls_of(attempt: MeasuredAttempt) -> int:
    """Return the number that a tool-call limit bounds."""
    return attempt.tool_calls


def context_of(attempt: MeasuredAttempt) -> int:
    """Return the number that a context limit bounds."""
    return attempt.context_tokens


def _accuracy_of(attempts: Sequence[MeasuredAttempt], within: Callable[[MeasuredAttempt], bool]) -> Interval | Missing:
    verdicts = require_present(attempt.correct for attempt in attempts)
    if isinstance(verdicts, Missing):
        return verdicts
    right = [float(correct and within(attempt)) for correct, attempt in zip(verdicts, attempts, strict=True)]
    return share_interval(right) if right else Missing("no attempts")
