"""The input for revising one section of a finished report, the same for all writers."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.citations import MARKER
from app.domain.errors import RubricaError
from app.domain.report import Report, Section


class NothingToAdd(RubricaError):
    """The stored evidence has nothing for this change that the report does not already say."""


@dataclass(frozen=True, slots=True)
class SectionRevision:
    """A section of `report`, from `first` up to `end` (not included) with its parts, and what to do with it.

    With `deepen` the section says more; else it is written anew. `wish` is the reader's own request.
    """

    report: Report
    first: int
    deepen: bool
    wish: str = ""

    @property
    def end(self) -> int:
        """The index at which the next section of the same or a higher level begins."""
        sections, level = self.report.sections, self.report.sections[self.first].level
        return next((i for i in range(self.first + 1, len(sections)) if sections[i].level <= level), len(sections))

    @property
    def sections(self) -> tuple[Section, ...]:
        """The section and its parts."""
        return self.report.sections[self.first : self.end]

    @property
    def heading(self) -> str:
        """The section's heading."""
        return self.report.sections[self.first].heading

    @property
    def inside(self) -> frozenset[str]:
        """Keys of the quotes that these sections cite."""
        return list_cited_keys(self.sections)

    @property
    def outside(self) -> frozenset[str]:
        """Keys of the quotes that the rest of the report cites."""
        return list_cited_keys([*self.report.sections[: self.first], *self.report.sections[self.end :]])


def list_cited_keys(sections: Sequence[Section]) -> frozenset[str]:
    """Return the keys of the quotes that these sections cite."""
    return frozenset(key.strip() for section in sections for key in MARKER.findall(section.body))
