"""The format of generated rubrics is scored as written: nothing is mended."""

import json
from typing import Any

import pytest

from app.domain.missing import Missing
from app.domain.rubric import Rubric
from training.rewards.rubric_format import read_rubric_strictly


def items(n: int = 7) -> list[dict[str, Any]]:
    return [{"title": f"T{i}", "description": f"Key Criterion: Names reason {i}.", "weight": 5} for i in range(n)]


def test_an_array_or_an_object_around_it_is_well_formed() -> None:
    for text in (json.dumps(items()), json.dumps({"criteria": items(20)}, indent=1) + "\n"):
        assert isinstance(read_rubric_strictly(text), Rubric)


def changed(**fields: Any) -> str:
    return json.dumps([items()[0] | fields, *items()[1:]])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        json.dumps(items())[:-1] + ",]",
        json.dumps(items()).replace('"', "'"),
        f"```json\n{json.dumps(items())}\n```",
        f"Here it is: {json.dumps(items())}",
        json.dumps({"criteria": items(), "note": "x"}),
        json.dumps(items(6)),
        json.dumps(items(21)),
        changed(weight="5"),
        changed(weight=5.5),
        changed(weight=4),
        changed(weight=True),
        changed(extra=1),
        changed(description="Names reason 0."),
        changed(title="T1"),
        json.dumps([{k: v for k, v in item.items() if k != "weight"} for item in items()]),
    ],
)
def test_whatever_would_need_mending_is_no_rubric(text: str) -> None:
    assert isinstance(read_rubric_strictly(text), Missing)
