"""The rewards as sums: DeepRubric Eq. 5, QSR Eq. 1, MindDR Eq. 9 and 12."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

from app.domain.missing import Missing
from training.rewards.score import Score, sum_weighted

TOLERANCE = 1e-9
MOST_OUTCOME_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class DeepRubricWeights:
    """Weights of DeepRubric's parts."""

    rubric: float = 0.5
    format: float = 0.2
    citation: float = 0.2
    search: float = 0.1


PAPER_WEIGHTS = DeepRubricWeights()


@dataclass(frozen=True, slots=True)
class DeepRubricParts:
    """The parts of DeepRubric's reward, each from 0 to 1."""

    rubric: Score
    format: Score
    citation: Score
    search: Score


def deeprubric_reward(parts: DeepRubricParts, weights: DeepRubricWeights = PAPER_WEIGHTS) -> Score:
    """Return the reward of DeepRubric Eq. 5, from 0 to 1."""
    return sum_weighted(
        [
            (weights.rubric, parts.rubric),
            (weights.format, parts.format),
            (weights.citation, parts.citation),
            (weights.search, parts.search),
        ]
    )


@dataclass(frozen=True, slots=True)
class RubricGeneratorWeights:
    """The lambdas of QSR Eq. 1; the format reward has none."""

    preference: float = 1.0
    quality: float = 1.0


def rubric_generator_reward(
    preference: Score, quality: Score, well_formed: bool, weights: RubricGeneratorWeights = RubricGeneratorWeights()
) -> Score:
    """Return the sum of QSR Eq. 1: preference consistency (+1 or -1), quality (0 to 4, unscaled) and format (0 or -1)."""
    total = sum_weighted([(weights.preference, preference), (weights.quality, quality)])
    return total if isinstance(total, Missing) else total + (0.0 if well_formed else -1.0)


@dataclass(frozen=True, slots=True)
class SearchWeights:
    """The lambdas of MindDR Eq. 9. The outcome has the weight that the others leave, from 0 to 0.5.

    Raises:
        ValueError: a weight is negative, or the outcome's weight is out of its bounds.
    """

    tool: float = 0.6
    format: float = 0.3
    process: float = 0.1

    def __post_init__(self) -> None:
        if min(self.tool, self.format, self.process) < 0 or not -TOLERANCE <= self.outcome <= MOST_OUTCOME_WEIGHT + TOLERANCE:
            raise ValueError(f"weights must not be negative and must leave the outcome 0 to {MOST_OUTCOME_WEIGHT}: {self}")

    @property
    def outcome(self) -> float:
        """The outcome's weight."""
        rest = 1.0 - self.tool - self.format - self.process
        return 0.0 if abs(rest) <= TOLERANCE else rest


def search_agent_reward(
    outcome: Score, process: Score, tools: Sequence[float], formats: Sequence[float], weights: SearchWeights = SearchWeights()
) -> Score:
    """Return the reward of MindDR Eq. 9; Missing for a trajectory without steps. `tools` and `formats` have one reward a step."""
    if not tools or len(tools) != len(formats):
        return Missing("the trajectory has no steps" if not tools else "tool and format rewards differ in number")
    return sum_weighted(
        [
            (weights.outcome, outcome),
            (weights.process, process),
            (weights.tool, fsum(tools) / len(tools)),
            (weights.format, fsum(formats) / len(formats)),
        ]
    )


@dataclass(frozen=True, slots=True)
class ReportWeights:
    """The lambdas of MindDR Eq. 12. Set them by how often a model errs."""

    citation: float = 1.0
    format: float = 0.1


def report_reward(race: Score, citation: float, violations: int, weights: ReportWeights = ReportWeights()) -> Score:
    """Return the sum of MindDR Eq. 12: the RACE score, citations (Eq. 10), and violations (Eq. 11, from -3 to 0)."""
    return sum_weighted([(1.0, race), (weights.citation, citation), (weights.format, float(violations))])
