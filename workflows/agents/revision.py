"""What revising one section of a finished report needs to know, whoever does it."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.citations import MARKER
from app.domain.errors import RubricaError
from app.domain.report import Report, Section


class NothingMore(RubricaError):
    """The stored evidence has nothing for this change that the report does not say already."""


@dataclass(frozen=True, slots=True)
class Revision:
    """The section at `first` of `report` with the parts under it (up to `end`, not included), and what to do with it.

    `deepen`: say more; else say it anew. `wish` is what the reader adds.
    """

    report: Report
    first: int
    deepen: bool
    wish: str = ""

    @property
    def end(self) -> int:
        """Where the next section of the same or a higher level begins."""
        sections, level = self.report.sections, self.report.sections[self.first].level
        return next((i for i in range(self.first + 1, len(sections)) if sections[i].level <= level), len(sections))

    @property
    def sections(self) -> tuple[Section, ...]:
        """The section and its parts."""
        return self.report.sections[self.first : self.end]

    @property
    def heading(self) -> str:
        """The section's."""
        return self.report.sections[self.first].heading

    @property
    def inside(self) -> frozenset[str]:
        """Keys of the quotes that these sections cite."""
        return cited_keys(self.sections)

    @property
    def outside(self) -> frozenset[str]:
        """Keys of the quotes that the rest of the report cites."""
        return cited_keys([*self.report.sections[: self.first], *self.report.sections[self.end :]])


def cited_keys(sections: Sequence[Section]) -> frozenset[str]:
    """Keys of the quotes that these sections cite."""
    return frozenset(key.strip() for section in sections for key in MARKER.findall(section.body))
