"""The scores of one item."""

from collections.abc import Mapping

from pydantic import Field, FiniteFloat, JsonValue

from app.domain.budget import Usage
from app.domain.missing import Missing
from app.domain.query import Language
from app.domain.value import Value
from training.rewards.score import Score


class ItemScores(Value):
    """The values of one item, by figure; `missing` says why a figure has no value. `usage` is the judge's.

    Raises:
        ValueError: a value is NaN or infinite.
    """

    item: str
    values: dict[str, FiniteFloat] = Field(default_factory=dict)
    missing: dict[str, str] = Field(default_factory=dict)
    detail: JsonValue = None
    domain: str = ""
    language: Language = Language.ENGLISH
    usage: Usage = Usage()


def item_scores_of(item: str, figures: Mapping[str, Score], detail: JsonValue = None) -> ItemScores:
    """Split figures into values and reasons for missing ones."""
    return ItemScores(
        item=item,
        values={name: value for name, value in figures.items() if not isinstance(value, Missing)},
        missing={name: value.reason for name, value in figures.items() if isinstance(value, Missing)},
        detail=detail,
    )
