"""Whether the answer of a search is right (MindDR 5.2, ORM): the majority of the judges says so."""

from collections.abc import Sequence

from app.domain.missing import Missing
from retrieval.language.tokens import split_units
from training.rewards.entities import Entity, is_mentioned
from training.rewards.sameness import fold_text
from training.rewards.score import Score
from training.rewards.votes import outcome_reward
from workflows.agents.kit import Kit
from workflows.judging.short_answer import extract_short_answer, judge_answer

MOST_UNITS = 100
"""The longest answer that is matched: a longer one could list many names."""


async def judge_outcome(judges: Sequence[Kit], question: str, answer: Entity, output: str) -> Score:
    """Return 1 for a right answer, 0 for a wrong one or none; missing where the judges' answers are.

    The first judge reads the short answer out of what was delivered; then each judge holds it against the known answer.
    """
    if not output.strip():
        return 0.0
    said = await extract_short_answer(judges[0], question, output)
    if isinstance(said, Missing):
        return said
    gold = " / ".join((answer.name, *answer.aliases))
    return outcome_reward(await judge_answer(judges, question, gold, said)) if said else 0.0


def match_outcome(answer: Entity, output: str) -> float:
    """Return 1 for a short text that names the answer, else 0. Ours: for trials without a judge."""
    return float(len(split_units(output)) <= MOST_UNITS and is_mentioned(answer, fold_text(output)))
