"""Rubrics: the demands on a report about one question, item by item (Query-Specific Rubrics, sections 3.3 and C.1).

This is the form that readers see and edit, and that reports are held to. DeepRubric's (`evidence_rubric.py`) and RACE's
(`race_rubric.py`) are further forms; the field `form` tells them apart.
"""

import re
from enum import StrEnum
from typing import Literal

from pydantic import Field, field_validator, model_validator

from app.domain.options import to_one_line
from app.domain.value import Value

FEWEST, MOST = 7, 20
_SENTENCE_ENDS = re.compile(r"[^\W\d_]{4}[\"'”’)]?[.!?][\"'”’)]?\s+[A-Z]|[。！？](?![”’」』）)]?\s*$)")


class Category(StrEnum):
    """The importance of an item. `error` items describe a fault: the more a report matches one, the worse it is."""

    KEY = "key"
    IMPORTANT = "important"
    OPTIONAL = "optional"
    ERROR = "error"

    @property
    def weights(self) -> tuple[int, ...]:
        """The weights that an item of this category may have, the heaviest first."""
        return WEIGHTS[self]


WEIGHTS = {Category.KEY: (5,), Category.IMPORTANT: (4, 3), Category.OPTIONAL: (2, 1), Category.ERROR: (-2, -1)}
OPENINGS = {
    "Key Criterion:": Category.KEY,
    "Important Criterion:": Category.IMPORTANT,
    "Optional Criterion:": Category.OPTIONAL,
    "Error Criterion:": Category.ERROR,
    "关键标准：": Category.KEY,
    "重要标准：": Category.IMPORTANT,
    "可选标准：": Category.OPTIONAL,
    "错误标准：": Category.ERROR,
}


class Criterion(Value):
    """One item. `description` is one sentence that opens with its category, which determines the weight.

    Raises:
        ValueError: another opening, several sentences, or a weight that the category does not allow.
    """

    title: str = Field(min_length=1, max_length=120)
    description: str = Field(min_length=1, max_length=600)
    weight: int = Field(ge=-2, le=5)

    @field_validator("title", "description")
    @classmethod
    def _clean_line(cls, text: str) -> str:
        line = to_one_line(text)
        if not any(c.isalnum() for c in line):
            raise ValueError("a title and a description need words")
        return line

    @model_validator(mode="after")
    def _check_form(self) -> "Criterion":
        category, said = opening_of(self.description)
        if category is None or not any(c.isalnum() for c in said):
            raise ValueError(f"the description of {self.title!r} has to begin with one of: {', '.join(OPENINGS)}")
        if _SENTENCE_ENDS.search(said):
            raise ValueError(f"the description of {self.title!r} has to be one sentence")
        if self.weight not in category.weights:
            allowed = " or ".join(str(weight) for weight in category.weights)
            raise ValueError(f"{self.title!r} is a criterion of the category {category.value}: its weight has to be {allowed}")
        return self

    @property
    def category(self) -> Category:
        """The category that its description opens with."""
        category, _ = opening_of(self.description)
        assert category is not None
        return category

    @property
    def demand(self) -> str:
        """The description without its opening."""
        return opening_of(self.description)[1]


def opening_of(description: str) -> tuple[Category | None, str]:
    """Return the category that a description opens with, if any, and the text after that."""
    for opening, category in OPENINGS.items():
        if description.lower().startswith(opening.lower()):
            return category, description[len(opening) :].strip()
    return None, description.strip()


class Origin(StrEnum):
    """The writer of a rubric: a model for this question, the program from the question's own words, or a person."""

    MODEL = "model"
    GENERAL = "general"
    READER = "reader"


class Rubric(Value):
    """The rubric of a report. `notice` is what its reader must know about its making; `model` wrote it, empty without one.

    `prompt` is the SHA-256 of the model's prompt.

    Raises:
        ValueError: fewer than 7 items or more than 20, two of the same title, or nothing but errors.
    """

    form: Literal["qsr"] = "qsr"
    criteria: tuple[Criterion, ...] = Field(min_length=FEWEST, max_length=MOST)
    origin: Origin = Origin.READER
    model: str = Field(default="", max_length=200)
    prompt: str = Field(default="", max_length=64)
    notice: str = Field(default="", max_length=1_000)

    @model_validator(mode="after")
    def _check_whole(self) -> "Rubric":
        titles = [criterion.title.casefold() for criterion in self.criteria]
        if len(set(titles)) != len(titles):
            raise ValueError("two criteria have the same title; give each its own")
        if all(criterion.weight < 0 for criterion in self.criteria):
            raise ValueError("a rubric of errors alone asks nothing of a report; add what it has to do")
        return self
