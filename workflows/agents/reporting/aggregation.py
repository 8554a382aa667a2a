"""Step two, global aggregation: which evidence goes into which section, what says the same, and what disagrees."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import Field

from workflows.agents.quote_book import QuoteBook
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.outline import Outline, OutlinedSection
from workflows.agents.shared_terms import count_shared_terms, terms_of
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

MAX_CONFLICTS = 12
POINT_CHARS = 600
ABOUT_CHARS = 500


class PointAnswer(StepAnswer):
    """A statement and all evidence for it."""

    main = "point"

    point: str = Field(default="", description="one statement to make")
    quotes: tuple[str, ...] = Field(default=(), description="ids of all quotes that say it, such as q3")


class FilledSectionAnswer(StepAnswer):
    """The points of one section, in the order in which to make them."""

    section: int = Field(default=0, description="number of the section in the outline")
    points: tuple[PointAnswer, ...] = ()


class DisagreementAnswer(StepAnswer):
    """Quotes that disagree."""

    about: str = Field(default="", description="what they disagree about")
    quotes: tuple[str, ...] = Field(default=(), description="ids of the quotes that disagree")


class AggregationAnswer(StepAnswer):
    """The outline filled with evidence."""

    sections: tuple[FilledSectionAnswer, ...] = ()
    conflicts: tuple[DisagreementAnswer, ...] = ()


AGGREGATION = declare_step("aggregation", AggregationAnswer, max_tokens=4_000)


@dataclass(frozen=True, slots=True)
class SectionPoint:
    """A statement to make, with the ids of the quotes that support it."""

    text: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceDisagreement:
    """Sources that disagree, and about what."""

    about: str
    ids: tuple[str, ...]


@dataclass
class FilledSection:
    """A section of the outline with its content; `spare` are quotes that belong here without a point of their own."""

    section: OutlinedSection
    points: list[SectionPoint] = field(default_factory=list)
    spare: list[str] = field(default_factory=list)
    conflicts: list[SourceDisagreement] = field(default_factory=list)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all its quotes, those with points first."""
        conflicting = (short for conflict in self.conflicts for short in conflict.ids)
        return tuple(dict.fromkeys([*(short for p in self.points for short in p.ids), *self.spare, *conflicting]))


async def aggregate_evidence(desk: ReportDesk, outline: Outline) -> list[FilledSection]:
    """Place every quote of the book in at least one section. Sections without evidence are left out."""
    kit, book = desk.kit, desk.book
    messages = kit.prompts.get("aggregation", kit.language).render(
        **desk.frame_values(),
        outline=outline.to_text(),
        evidence=book.format_quotes(book.ids, kit.bounds.evidence_chars),
        conflicts=format_conflicts(book.list_conflicts()) or say("none", kit.language),
        form=kit.codec.describe_form(AGGREGATION, kit.prompts, kit.language),
    )
    answer = await desk.ask(desk.asker, AGGREGATION, messages, "aggregation_failed")
    return [section for section in fill_sections(outline, answer or AggregationAnswer(), book) if section.ids]


def format_conflicts(conflicts: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    """Return the disagreements as a prompt shows them."""
    return "\n".join(f"- {as_data(about)} ({', '.join(ids)})" for about, ids in conflicts)


def fill_sections(outline: Outline, answer: AggregationAnswer, book: QuoteBook) -> list[FilledSection]:
    """Fill the outline's sections with points, the quotes that the answer forgot, and the disagreements."""
    filled = [FilledSection(section) for section in outline.sections]
    for said in answer.sections:
        if 1 <= said.section <= len(filled):
            filled[said.section - 1].points.extend(_points_of(said, book))
    _place_remaining(filled, book)
    for conflict in collect_disagreements(book, answer):
        _find_section_of(filled, conflict).conflicts.append(conflict)
    return filled


def _points_of(said: FilledSectionAnswer, book: QuoteBook) -> list[SectionPoint]:
    points = [SectionPoint(" ".join(p.point.split())[:POINT_CHARS], book.ids_in(" ".join(p.quotes))) for p in said.points]
    return [point for point in points if point.ids]


def _place_remaining(filled: list[FilledSection], book: QuoteBook) -> None:
    """Put quotes without a section where their words fit best; the emptiest section wins a tie."""
    placed = {short for section in filled for short in section.ids}
    wanted = [terms_of(section.section.to_text()) for section in filled]
    for short in book.ids:
        if short not in placed:
            text = book[short].text
            best = max(range(len(filled)), key=lambda i: (count_shared_terms(text, wanted[i]), -len(filled[i].spare), -i))
            filled[best].spare.append(short)


def collect_disagreements(book: QuoteBook, answer: AggregationAnswer | None = None) -> list[SourceDisagreement]:
    """Return the disagreements that the aggregation or a search agent noticed, each set of quotes once."""
    said = [(c.about, book.ids_in(" ".join(c.quotes))) for c in answer.conflicts] if answer else []
    kept: dict[frozenset[str], SourceDisagreement] = {}
    for about, ids in [*said, *book.list_conflicts()]:
        about = " ".join(about.split())[:ABOUT_CHARS]
        if len(ids) > 1 and about:
            kept.setdefault(frozenset(ids), SourceDisagreement(about, ids))
    return list(kept.values())[:MAX_CONFLICTS]


def _find_section_of(filled: list[FilledSection], conflict: SourceDisagreement) -> FilledSection:
    """Return the section that has most of the conflict's quotes."""
    return max(filled, key=lambda section: (len(set(conflict.ids) & set(section.ids)), -section.section.number))
