"""The tasks of the rubric generator: a question with its preferred and its rejected report."""

from collections.abc import Sequence

from pydantic import BaseModel

from app.domain.query import Language
from app.domain.split import Split
from training.recipes.rubric_generator.config import RubricGeneratorConfig
from training.recipes.rubric_generator.reward import PreferredPair
from training.recipes.training_data import read_rows
from training.rollouts.nouns import Task


class ReportLine(BaseModel):
    """What is read of a report."""

    text: str


class PairLine(BaseModel):
    """What is read of a row."""

    id: str
    query: str
    language: Language
    accepted: ReportLine
    rejected: ReportLine
    parts: tuple[str, ...] = ()


FORMS = {"preference-pairs": PairLine}


def read_tasks(config: RubricGeneratorConfig, split: Split) -> Sequence[Task[PreferredPair]]:
    """Read the tasks of a split.

    Raises:
        InvalidInput: the sets cannot be used.
    """
    rows = read_rows(config.data.sets, FORMS, split)
    most = config.data.most_rows if split is Split.TRAIN else config.validation.tasks
    return [
        Task(row.id, row.query, row.language, PreferredPair(row.query, row.accepted.text, row.rejected.text, row.parts))
        for row in rows[: most or len(rows)]
    ]
