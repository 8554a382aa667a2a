"""The tasks of an agent's training: the queries of sets of evidence trees, each with its rubric from the wanted source."""

from collections.abc import Mapping

from pydantic import BaseModel

from app.domain.errors import InvalidInput
from app.domain.evidence_rubric import EvidenceRubric, Variant
from app.domain.query import Language
from app.domain.rubric import Rubric
from app.domain.split import Split
from training.recipes.agent_rl.config import WRITTEN, DataSection, RubricSource
from training.recipes.training_data import read_rows
from training.rollouts.nouns import Task
from workflows.judging.baseline_rubric import BASELINE

VARIANTS: Mapping[RubricSource, Variant] = {
    RubricSource.UNREVISED: Variant.UNREVISED,
    RubricSource.SEARCH: Variant.SEARCH,
    RubricSource.CLOSED_BOOK: Variant.CLOSED_BOOK,
}


class TreeLine(BaseModel):
    """What is read of a row."""

    id: str
    query: str
    language: Language
    rubric: EvidenceRubric
    variants: tuple[EvidenceRubric, ...] = ()


FORMS = {"evidence-trees": TreeLine}
KnownRubric = EvidenceRubric | Rubric | None
"""The rubric of a task; None where a model writes it during the run."""


def read_tasks(section: DataSection, split: Split) -> list[Task[KnownRubric]]:
    """Read a split's tasks.

    Raises:
        InvalidInput: the sets cannot be used, or a row lacks the wanted variant.
    """
    rows = read_rows(section.sets, FORMS, split)[section.skip_rows if split is Split.TRAIN else 0 :]
    return [
        Task(row.id, row.query, row.language, _find_rubric(row, section.rubrics))
        for row in rows[: section.most_rows or len(rows)]
    ]


def _find_rubric(row: TreeLine, source: RubricSource) -> KnownRubric:
    if source in WRITTEN:
        return None
    if source is RubricSource.GENERAL:
        return BASELINE[row.language]
    if source is RubricSource.TREE:
        return row.rubric
    found = next((each for each in row.variants if each.variant is VARIANTS[source]), None)
    if found is None:
        raise InvalidInput(
            f"row {row.id} has no rubric of the variant {VARIANTS[source]}; make the set with `--option "
            f"variants={VARIANTS[source]}`"
        )
    return found
