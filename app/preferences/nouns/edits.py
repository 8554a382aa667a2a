"""Edits by readers, as training reads them: sections of reports, and rubrics before a report is written."""

from app.domain.query import ResearchQuery
from app.domain.revision import VersionOrigin
from app.domain.rubric import Rubric
from app.domain.value import Value
from app.domain.writer import ReportLineage


class EditedSection(Value):
    """A section as a reader changed it, with the version that was changed; bodies cite quotes by `[[key]]`.

    `lineage` is of the report as delivered; `base` is the origin of the changed version, and `digest` is the SHA-256
    of its stored JSON.
    """

    id: str
    query: ResearchQuery
    version: int
    base: VersionOrigin
    digest: str
    lineage: ReportLineage
    heading_before: str
    heading: str
    before: str
    after: str
    reader: str


class RevisedRubric(Value):
    """A rubric as a reader changed it before the report was written. `drafted` names its model and prompt; None: from nothing.

    `overall` is the report's score by this rubric, where it has one.
    """

    id: str
    query: ResearchQuery
    drafted: Rubric | None
    rubric: Rubric
    overall: float | None
    reader: str
