"""QSR's form of a generated rubric (section 3.3), which is worth 0 where it can be used without repair, else -1.

The reading is strict. Serving repairs small faults, but a generator that is rewarded in spite of them would keep them.
"""

from typing import Any

import orjson
from pydantic import ValidationError

from app.domain.missing import Missing
from app.domain.rubric import Criterion, Rubric
from training.rewards.sameness import query_key_of

WELL_FORMED, ILL_FORMED = 0.0, -1.0
FIELDS = frozenset(Criterion.model_fields)


def read_rubric_strictly(text: str) -> Rubric | Missing:
    """Read a rubric without repair: a JSON array of items, alone or as `criteria` of an object, and nothing around it.

    Each item has exactly title, description and weight; the weight is a whole number. QSR's rules of form hold, and no two
    items demand the same in other order, punctuation or inflection.
    """
    try:
        said: Any = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Missing(f"no JSON: {error}")
    items = said["criteria"] if isinstance(said, dict) and said.keys() == {"criteria"} else said
    if not isinstance(items, list) or any(not isinstance(item, dict) or item.keys() != FIELDS for item in items):
        return Missing("no array of objects with exactly title, description and weight")
    try:
        rubric = Rubric(criteria=tuple(Criterion.model_validate(item, strict=True) for item in items))
    except ValidationError as error:
        return Missing(str(error.errors()[0]["msg"]))
    if len({query_key_of(criterion.demand) for criterion in rubric.criteria}) < len(rubric.criteria):
        return Missing("two items demand the same")
    return rubric
