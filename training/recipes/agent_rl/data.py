"""The tasks of an agent's training: the queries of sets, each with its rubric from the wanted source.

Sets of evidence trees have rubrics. Any other set with queries will do where a generator writes them, or one holds for all (QSR
4.3): graph queries, questions of readers (their pairs, or runs on their published queries; MDR 4.2).
"""

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
from training.synthesis.catalogue import LOCATIONS
from workflows.judging.baseline_rubric import BASELINE

WRITTEN_OR_GENERAL = WRITTEN | {RubricSource.GENERAL}
VARIANTS: Mapping[RubricSource, Variant] = {
    RubricSource.UNREVISED: Variant.UNREVISED,
    RubricSource.SEARCH: Variant.SEARCH,
    RubricSource.CLOSED_BOOK: Variant.CLOSED_BOOK,
}


class QueryLine(BaseModel):
    """What is read of a row of any set."""

    id: str
    query: str
    language: Language


class TreeLine(QueryLine):
    """What is read of a row of evidence trees."""

    rubric: EvidenceRubric
    variants: tuple[EvidenceRubric, ...] = ()


TREES = "evidence-trees"
FORMS: Mapping[str, type[QueryLine]] = dict.fromkeys(LOCATIONS, QueryLine) | {TREES: TreeLine}
KnownRubric = EvidenceRubric | Rubric | None
"""The rubric of a task; None where a model writes it during the run."""


def read_tasks(section: DataSection, split: Split) -> list[Task[KnownRubric]]:
    """Read a split's tasks.

    Raises:
        InvalidInput: the sets cannot be used, or a row lacks the wanted variant.
    """
    forms = FORMS if section.rubrics in WRITTEN_OR_GENERAL else {TREES: TreeLine}
    rows = read_rows(section.sets, forms, split)
    asked = list({row.query: row for row in rows}.values())[section.skip_rows if split is Split.TRAIN else 0 :]
    return [
        Task(row.id, row.query, row.language, _find_rubric(row, section.rubrics))
        for row in asked[: section.most_rows or len(asked)]
    ]


def _find_rubric(row: QueryLine, source: RubricSource) -> KnownRubric:
    if source in WRITTEN:
        return None
    if source is RubricSource.GENERAL:
        return BASELINE[row.language]
    if not isinstance(row, TreeLine):
        raise InvalidInput(f"row {row.id} has no rubric: set data.rubrics to one that is written, or to general")
    if source is RubricSource.TREE:
        return row.rubric
    found = next((each for each in row.variants if each.variant is VARIANTS[source]), None)
    if found is None:
        raise InvalidInput(
            f"row {row.id} has no rubric of the variant {VARIANTS[source]}; make the set with `--option "
            f"variants={VARIANTS[source]}`"
        )
    return found
