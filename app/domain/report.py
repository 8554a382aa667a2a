"""The report: a title, sections in order, and what the reader must know about its making."""

from pydantic import Field

from app.domain.claims import Claim
from app.domain.evidence import Quote, SourceConflict
from app.domain.value import Value
from app.domain.writer import Composition

READER = "a reader"  # no model has this name: models' names have no spaces


class Section(Value):
    """One section. `body` is Markdown without headings, citing quotes as `[[key]]`; `level` 2 is the top.

    `changed_by` names who wrote it after delivery: a model, or `READER`; empty for a section that is as it was
    delivered, or was composed again from the sources' own sentences.
    """

    heading: str
    level: int = Field(default=2, ge=2, le=4)
    body: str = ""
    changed_by: str = ""


class Report(Value):
    """A finished report before numbering.

    `quotes` holds every quote a body may cite; `notices` are statements that the reader must see (a part of
    the research that failed, a budget that ended it, sources that disagree without resolution). `removed_citations` counts
    the citations of a model without a stored quote: they were removed. `claims` are the sentences of the bodies with
    the grades of their evidence, in order; empty where nobody graded them. `composition` says how a model composed the text; None
    where none did, or where it wrote while it searched.
    """

    title: str
    sections: tuple[Section, ...]
    quotes: tuple[Quote, ...] = ()
    conflicts: tuple[SourceConflict, ...] = ()
    notices: tuple[str, ...] = ()
    removed_citations: int = Field(default=0, ge=0)
    claims: tuple[Claim, ...] = ()
    composition: Composition | None = None
