"""Count how much a system interacts: turns and tool calls per sample, and their distribution (QSR appendix H, table 6)."""

import statistics
from collections.abc import Iterable, Sequence

from pydantic import Field

from app.domain.evidence import Finding
from app.domain.value import Value


class Interactions(Value):
    """The interactions of one sample. A turn of MaMs is a round of all three agents, else one decision of a searching agent.

    The deciding turn that ends a search counts; calls answered from the run's memory count as well, since the agent made them.
    """

    turns: int = Field(default=0, ge=0)
    tool_calls: int = Field(default=0, ge=0)

    def __add__(self, other: "Interactions") -> "Interactions":
        return Interactions(turns=self.turns + other.turns, tool_calls=self.tool_calls + other.tool_calls)


class Spread(Value):
    """The distribution of a count: mean, standard deviation (n - 1; 0 for one sample), least, quartiles and most."""

    mean: float
    sd: float
    least: int
    lower: float
    median: float
    upper: float
    most: int


class InteractionStatistics(Value):
    """Turns and tool calls per sample, over so many samples."""

    samples: int = Field(ge=1)
    turns: Spread
    tool_calls: Spread


def interactions_of(findings: Iterable[Finding]) -> Interactions:
    """Return the interactions of all searches of a run together."""
    return sum((Interactions(turns=f.turns, tool_calls=f.usage.tool_calls) for f in findings), Interactions())


def statistics_of(samples: Sequence[Interactions]) -> InteractionStatistics:
    """Return the distribution over these samples.

    Raises:
        ValueError: there are no samples.
    """
    if not samples:
        raise ValueError("there are no samples to tell a distribution of")
    turns, calls = [s.turns for s in samples], [s.tool_calls for s in samples]
    return InteractionStatistics(samples=len(samples), turns=_spread_of(turns), tool_calls=_spread_of(calls))


def _spread_of(counts: Sequence[int]) -> Spread:
    several = len(counts) > 1
    quartiles = statistics.quantiles(counts, n=4, method="inclusive") if several else [float(counts[0])] * 3
    return Spread(
        mean=statistics.fmean(counts),
        sd=statistics.stdev(counts) if several else 0.0,
        least=min(counts),
        lower=quartiles[0],
        median=quartiles[1],
        upper=quartiles[2],
        most=max(counts),
    )
