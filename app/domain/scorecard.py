"""Score how well a report meets its rubric: an answer for each criterion, or the reason why there is none."""

from collections.abc import Iterable

from pydantic import Field, model_validator

from app.domain.missing import Missing
from app.domain.rubric import Category, Criterion
from app.domain.rubric_score import ScoredItem, bounded_score
from app.domain.value import Value

LOWEST, HIGHEST = 1, 10
PASSES_FROM = 0.5


def normalise_rating(rating: int) -> float:
    """Return a rating from 1 to 10 as a score in [0, 1] (Query-Specific Rubrics, section 3.3: linearly, so 1 is 0 and 10 is 1).

    Raises:
        ValueError: another number.
    """
    if not LOWEST <= rating <= HIGHEST:
        raise ValueError(f"a rating goes from {LOWEST} to {HIGHEST}, not {rating}")
    return (rating - LOWEST) / (HIGHEST - LOWEST)


class CriterionScore(Value):
    """The degree to which the report matches one criterion. A high score of an `error` criterion is a fault.

    `score` is None where nobody could judge, and `missing` says why. `sentences` are those of the report that the judgement
    rests on. `judge` is `model` or `offline`.
    """

    criterion: Criterion
    score: float | None = Field(default=None, ge=0, le=1)
    reason: str = Field(default="", max_length=1_000)
    sentences: tuple[str, ...] = ()
    judge: str = ""
    missing: str = Field(default="", max_length=500)

    @model_validator(mode="after")
    def _check_missing(self) -> "CriterionScore":
        if (self.score is None) != bool(self.missing):
            raise ValueError("a criterion has a score, or the reason why it has none")
        return self

    @property
    def fails(self) -> bool:
        """True when the report lacks what is asked, or has the described fault; False where nobody judged."""
        if self.score is None:
            return False
        return (self.score >= PASSES_FROM) is (self.criterion.category is Category.ERROR)


class Scorecard(Value):
    """The scores in the rubric's order. `overall` is None where no criterion that asks for something was judged.

    `revised` names the criteria for which the report was rewritten once after a first judgement.
    """

    items: tuple[CriterionScore, ...]
    overall: float | None = Field(default=None, ge=0, le=1)
    judged: int = Field(ge=0)
    revised: tuple[str, ...] = ()

    def without_words(self) -> "Scorecard":
        """Return the card without sentences of the report, and without reasons, which may repeat some."""
        items = tuple(item.model_copy(update={"reason": "", "sentences": ()}) for item in self.items)
        return self.model_copy(update={"items": items})


def scorecard_of(items: Iterable[CriterionScore], revised: tuple[str, ...] = ()) -> Scorecard:
    """Return the card of these scores."""
    scores = tuple(items)
    return Scorecard(items=scores, overall=overall_of(scores), judged=sum(s.score is not None for s in scores), revised=revised)


def overall_of(scores: Iterable[CriterionScore]) -> float | None:
    """Return the bounded score (`rubric_score`, ADR 0025) of what was judged; None where no judged item asks for anything."""
    judged = [ScoredItem(score.criterion.weight, score.score) for score in scores if score.score is not None]
    found = bounded_score(judged)
    return None if isinstance(found, Missing) else found
