"""QSR's format reward of a generated rubric: 0 where it can be used as it stands, -1 where it cannot (section 3.3).

Read strictly: what serving would mend is an error here, or a generator that is forgiven its slips never unlearns them.
"""

from typing import Any

import orjson
from pydantic import ValidationError

from app.domain.missing import Missing
from app.domain.rubric import Criterion, Rubric

WELL_FORMED, ILL_FORMED = 0.0, -1.0
FIELDS = frozenset(Criterion.model_fields)


def rubric_as_written(text: str) -> Rubric | Missing:
    """The rubric a text is, without repair: a JSON array of items, alone or as `criteria` of an object, nothing around it.

    Each item has exactly title, description and weight, the weight a whole number; the rules of QSR's form hold.
    """
    try:
        said: Any = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Missing(f"no JSON: {error}")
    items = said["criteria"] if isinstance(said, dict) and said.keys() == {"criteria"} else said
    if not isinstance(items, list) or any(not isinstance(item, dict) or item.keys() != FIELDS for item in items):
        return Missing("no array of objects with exactly title, description and weight")
    try:
        return Rubric(criteria=tuple(Criterion.model_validate(item, strict=True) for item in items))
    except ValidationError as error:
        return Missing(str(error.errors()[0]["msg"]))


def format_reward(text: str) -> float:
    """R_fmt of Eq. 1."""
    return ILL_FORMED if isinstance(rubric_as_written(text), Missing) else WELL_FORMED
