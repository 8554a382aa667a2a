"""FACT, the citation score of DeepResearch Bench: how many citations a report has, and how many of them their pages bear out.

Facts are extracted with their addresses, those of one address put together, and each held against its page by a judge. The
official statistics leave out tasks without citations and verdicts of `unknown`; the strict ones count every task, and say how
much is unknown.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.missing import Missing
from training.rewards.score import Score
from workflows.judging.fact_judge import PageVerdict


@dataclass(frozen=True, slots=True)
class FactFigures:
    """Citations and valid citations a task, and the share of the second in the first. `unknown` is a share of all verdicts."""

    citations: float
    valid: float
    valid_rate: Score
    unknown: float
    tasks: int


def fact_figures(tasks: Sequence[Sequence[PageVerdict]], official: bool = False) -> FactFigures:
    """The figures over tasks, each given by its verdicts.

    Raises:
        ValueError: there is no task to count.
    """
    counted = [task for task in tasks if any(v is not PageVerdict.UNKNOWN for v in task)] if official else list(tasks)
    if not counted:
        raise ValueError("no task to count")
    valid = sum(verdict is PageVerdict.SUPPORTED for task in counted for verdict in task)
    unknown = sum(verdict is PageVerdict.UNKNOWN for task in counted for verdict in task)
    total = sum(len(task) for task in counted)
    known = total - unknown
    rate: Score = valid / known if known else Missing("no citation was judged")
    citations = (known if official else total) / len(counted)
    return FactFigures(citations, valid / len(counted), rate, unknown / total if total else 0.0, len(counted))
