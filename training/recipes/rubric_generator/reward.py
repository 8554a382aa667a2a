"""The reward of a generated rubric: QSR Eq. 1 to 3 in one function."""

import re
from dataclasses import dataclass

from app.domain.missing import Missing
from app.domain.rubric import Rubric
from app.domain.rubric_score import Aggregation, ScoredItem, rubric_score
from training.recipes.rubric_generator.config import RewardSection, Scaling
from training.recipes.rubric_generator.judging import RubricJudge
from training.rewards.composites import RubricGeneratorWeights, rubric_generator_reward
from training.rewards.rubric_format import ILL_FORMED, WELL_FORMED, read_rubric_strictly
from training.rewards.score import Score, require_present
from training.rewards.votes import WRONG, preference_reward
from training.rollouts.nouns import Reward

_ANSWER = re.compile(r"(?:<think>(?:(?!</think>).)*</think>\s*)?<answer>(?P<rubric>(?:(?!</?answer>).)*)</answer>\s*", re.DOTALL)
MIDDLE = 2.0
"""Half the scale of quality: over it, a quality lies from -1 to +1."""
NO_QUALITY = 0.0


@dataclass(frozen=True, slots=True)
class PreferredPair:
    """The triple of QSR 3.2: a question, the report that was preferred, the other one. `parts` are the titles of its plan."""

    question: str
    accepted: str
    rejected: str
    parts: tuple[str, ...] = ()


def read_written_rubric(text: str) -> Rubric | Missing:
    """Read what the policy wrote without repair: at most a thought, then the rubric inside `<answer>`, and nothing else."""
    found = _ANSWER.fullmatch(text)
    return read_rubric_strictly(found["rubric"]) if found else Missing("no <answer>, or something around it")


async def reward_rubric(text: str, pair: PreferredPair, judge: RubricJudge, section: RewardSection) -> Reward:
    """Return the reward of a rubric as the policy wrote it, with its parts.

    Parts: `format` (0 or -1), `preference` (-1 or +1; Eq. 2, 3), `quality` (0 to 4), and the sum of Eq. 1 under both scalings of
    quality. A rubric that cannot be read ranks nothing: preference -1, quality 0. A part that has no weight is not judged.
    """
    rubric = read_written_rubric(text)
    if isinstance(rubric, Missing):
        return combine_parts(WRONG, NO_QUALITY, ILL_FORMED, section)
    preference: Score = Missing("it has no weight")
    if section.preference_weight:
        preference = await reward_preference(rubric, pair, judge, section.aggregation)
    quality = await judge.rate(pair.question, rubric) if section.quality_weight else Missing("it has no weight")
    return combine_parts(preference, quality, WELL_FORMED, section)


async def reward_preference(rubric: Rubric, pair: PreferredPair, judge: RubricJudge, by: Aggregation) -> Score:
    """Return R_pref of Eq. 3: whether the rubric scores the preferred report higher."""
    return preference_reward(await measure_difference(rubric, pair, judge, by), 0.0)


async def measure_difference(rubric: Rubric, pair: PreferredPair, judge: RubricJudge, by: Aggregation) -> Score:
    """Return how much higher the rubric scores the preferred report (Eq. 2).

    A rubric whose weights cancel each other out has no scores, and tells no report from another: 0, without a judgement.
    """
    unmatched = [ScoredItem(float(item.weight), 0.0) for item in rubric.criteria]
    if isinstance(rubric_score(unmatched, by), Missing):
        return 0.0
    scores = [await judge.score(pair.question, report, rubric) for report in (pair.accepted, pair.rejected)]
    totals = require_present([each.total(by) for each in scores])
    return totals if isinstance(totals, Missing) else totals[0] - totals[1]


def combine_parts(preference: Score, quality: Score, form: float, section: RewardSection) -> Reward:
    """Return the sum of Eq. 1 with its parts. A part without weight is left out."""
    weights = RubricGeneratorWeights(section.preference_weight, section.quality_weight)
    totals = {
        scaling: rubric_generator_reward(preference, scale_quality(quality, scaling), form == WELL_FORMED, weights)
        for scaling in Scaling
    }
    parts: dict[str, Score] = {"format": form, **{f"total_{scaling}": total for scaling, total in totals.items()}}
    parts |= {"preference": preference} if section.preference_weight else {}
    parts |= {"quality": quality} if section.quality_weight else {}
    return Reward(totals[section.scaling], parts)


def scale_quality(quality: Score, scaling: Scaling) -> Score:
    """Return a quality from 0 to 4 in the range of its scaling."""
    return quality if scaling is Scaling.PUBLISHED or isinstance(quality, Missing) else quality / MIDDLE - 1.0
