"""Which evidence goes to which section writer: what the outline names, and the rest where its words fit best."""

from dataclasses import dataclass, field

from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.reporting.outline import Outline, OutlinedSection
from workflows.agents.shared_terms import count_shared_terms, terms_of


@dataclass
class FilledSection:
    """A section of the outline with the ids of its evidence, and the disagreements that lie within it."""

    section: OutlinedSection
    ids: tuple[str, ...] = ()
    conflicts: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)


def place_evidence(outline: Outline, book: EvidenceBook) -> list[FilledSection]:
    """Give every passage of the book to at least one section. Sections without evidence are left out."""
    filled = [FilledSection(section, tuple(s for s in section.ids if s in book.ids)) for section in outline.sections]
    _place_remaining(filled, book)
    for about, ids in book.list_conflicts():
        best = max(filled, key=lambda section: (len(set(ids) & set(section.ids)), -section.section.number))
        best.ids = tuple(dict.fromkeys([*best.ids, *ids]))
        best.conflicts.append((about, ids))
    return [section for section in filled if section.ids]


def _place_remaining(filled: list[FilledSection], book: EvidenceBook) -> None:
    """Put passages without a section where their words fit best; the emptiest section wins a tie."""
    placed = {short for section in filled for short in section.ids}
    wanted = [terms_of(section.section.to_text()) for section in filled]
    spare = [0] * len(filled)
    for short in book.ids:
        if short not in placed:
            text = book[short].text
            best = max(range(len(filled)), key=lambda i: (count_shared_terms(text, wanted[i]), -spare[i], -i))
            filled[best].ids += (short,)
            spare[best] += 1
