"""The first step of the report agent: the hierarchical outline (MindDR section 3.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import Field

from app.domain.budget import StopReason
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from workflows.agents.citation_cleaning import remove_citations
from workflows.agents.evidence_book import EvidenceBook
from workflows.agents.memory_text import choose_relevant
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say
from workflows.checks.heading_numbers import remove_numbering

MAX_PARTS = 5
HEADING_CHARS = 160
TITLE_CHARS = 240
BRIEF_CHARS = 800
THOUGHTS_CHARS = 2_000
MIN_ANSWER_CHARS = 300
_MARKS = " #*_:："
_ADDED_LATER = frozenset(["summary", "executive summary", "abstract", "conclusion", "conclusions"]) | frozenset(
    ["references", "sources", "bibliography", "摘要", "概要", "执行摘要", "结论", "参考文献", "来源", "引用"]
)


class PartAnswer(StepAnswer):
    """A part of a section. A bare string is its heading."""

    main = "heading"

    heading: str = Field(default="", description="a telling heading")
    brief: str = Field(default="", description="what this part establishes")


class SectionAnswer(StepAnswer):
    """A section with its parts. A bare string is its heading."""

    main = "heading"

    heading: str = Field(default="", description="a telling heading")
    brief: str = Field(default="", description="the question this section answers and the line of its argument")
    parts: tuple[PartAnswer, ...] = Field(default=(), description="two to four parts where the section needs them, else none")
    passages: tuple[str, ...] = Field(default=(), description="ids of the passages that it rests on, such as q3")


class OutlineAnswer(StepAnswer):
    """The outline."""

    title: str = Field(default="", description="the report's title")
    sections: tuple[SectionAnswer, ...] = ()


OUTLINE = declare_step("outline", OutlineAnswer, max_tokens=3_000, spare=["parts", "passages"])


@dataclass(frozen=True, slots=True)
class PartHeading:
    """A heading with a brief of the text below it."""

    heading: str
    brief: str = ""


@dataclass(frozen=True, slots=True)
class OutlinedSection:
    """A section of the outline, numbered from 1, with its parts and the ids of the evidence that it is to rest on."""

    number: int
    heading: str
    brief: str
    parts: tuple[PartHeading, ...] = ()
    ids: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Return the text that a prompt shows."""
        parts = [f"   - {p.heading}: {p.brief}" for p in self.parts]
        return "\n".join([f"{self.number}. {self.heading}: {self.brief}", *parts])


@dataclass(frozen=True, slots=True)
class Outline:
    """Title and sections of the report to be."""

    title: str
    sections: tuple[OutlinedSection, ...]

    def keep_only(self, sections: Sequence[OutlinedSection]) -> "Outline":
        """Return the outline with these sections alone; they keep their numbers."""
        return replace(self, sections=tuple(sections))

    def to_text(self) -> str:
        """Return the text that a prompt shows."""
        return "\n".join(section.to_text() for section in self.sections)


def to_outline_answer(outline: Outline) -> OutlineAnswer:
    """Return an outline in the form of an answer, as training sets keep it."""
    sections = tuple(
        SectionAnswer(
            heading=s.heading, brief=s.brief, parts=tuple(PartAnswer(heading=p.heading, brief=p.brief) for p in s.parts)
        )
        for s in outline.sections
    )
    return OutlineAnswer(title=outline.title, sections=sections)


def read_kept_outline(kept: OutlineAnswer) -> Outline | None:
    """Return an outline that `to_outline_answer` gave, word for word; None for an empty one."""
    sections = tuple(
        OutlinedSection(number, s.heading, s.brief, tuple(PartHeading(p.heading, p.brief) for p in s.parts))
        for number, s in enumerate(kept.sections, 1)
    )
    return Outline(kept.title, sections) if sections else None


async def make_outline(desk: ReportDesk) -> Outline:
    """Return the model's outline, repaired; if it gives none, an outline with one section for each finding."""
    simple = outline_of_findings(desk.plan, desk.findings, desk.default_title)
    kit = desk.kit
    messages = desk.render(
        "outline",
        most=str(kit.bounds.sections),
        findings=format_findings(desk.plan, desk.findings, desk.book, desk),
        form=kit.codec.describe_form(OUTLINE, kit.prompts, kit.language),
    )
    answer = await desk.ask(desk.asker, OUTLINE, messages, "outline_failed")
    return (repair_outline(answer, kit.bounds.sections, simple.title, desk.book) if answer else None) or simple


def repair_outline(answer: OutlineAnswer, most: int, title: str, book: EvidenceBook | None = None) -> Outline | None:
    """Make a usable outline from any answer: drop empty and repeated headings, and sections that are added later anyway.

    Without a `book` the sections name no evidence.
    """
    named: dict[str, tuple[str, SectionAnswer]] = {}
    for heading, section in zip(_clean_headings(answer.sections), answer.sections, strict=True):
        if any(c.isalnum() for c in heading) and heading.casefold() not in _ADDED_LATER:
            named.setdefault(heading.casefold(), (heading, section))
    sections = tuple(_make_section(i, *section, book) for i, section in enumerate(list(named.values())[:most], 1))
    return Outline(_clean_heading(answer.title)[:TITLE_CHARS] or title, sections) if sections else None


def _make_section(number: int, heading: str, said: SectionAnswer, book: EvidenceBook | None) -> OutlinedSection:
    parts: dict[str, PartHeading] = {}
    for name, part in zip(_clean_headings(said.parts), said.parts, strict=True):
        if name:
            parts.setdefault(name.casefold(), PartHeading(name, " ".join(part.brief.split())[:BRIEF_CHARS]))
    kept = tuple(parts.values())[:MAX_PARTS]
    brief = " ".join(said.brief.split())[:BRIEF_CHARS]
    ids = book.ids_in(" ".join(said.passages)) if book else ()
    return OutlinedSection(number, heading, brief, kept if len(kept) > 1 else (), ids)


def _clean_headings(said: Sequence[SectionAnswer | PartAnswer]) -> list[str]:
    """Return the headings of sections, or of the parts of one, without marks and without the numbers that count them."""
    return [heading.strip(_MARKS)[:HEADING_CHARS] for heading in remove_numbering([_clean_heading(one.heading) for one in said])]


def _clean_heading(said: str) -> str:
    return remove_citations(" ".join(said.split())).strip(_MARKS)


def outline_of_findings(plan: ResearchPlan, findings: tuple[Finding, ...], title: str) -> Outline:
    """Return an outline with one section for each finding that has evidence."""
    told = [f for f in findings if f.quotes or f.passages]
    subtasks = {s.id: s for s in plan.subtasks}
    parts = [subtasks[f.subtask_id] for f in told if f.subtask_id in subtasks] or list(plan.subtasks)
    return Outline(title, tuple(OutlinedSection(i, s.title, s.question) for i, s in enumerate(parts, 1)))


def format_findings(plan: ResearchPlan, findings: tuple[Finding, ...], book: EvidenceBook, desk: ReportDesk) -> str:
    """Return every finding as text, with its citations as short ids, its gaps and its stop reason.

    An answer too long for its share is shortened; nothing else is left out.
    """
    share = desk.kit.bounds.evidence_chars // max(1, len(findings))
    return "\n\n".join(_format_finding(plan, f, book, desk, share) for f in findings)


def _format_finding(plan: ResearchPlan, finding: Finding, book: EvidenceBook, desk: ReportDesk, share: int) -> str:
    subtask = next((s for s in plan.subtasks if s.id == finding.subtask_id), None)
    answer, lines = as_data(book.put_ids(finding.answer)), _list_remarks(finding, book, desk)
    room = max(MIN_ANSWER_CHARS, share - sum(map(len, lines)))
    answer = answer if len(answer) <= room else f"{answer[:room]} …"
    return "\n".join([f"## {finding.subtask_id}: {subtask.title if subtask else ''}", answer, *lines])


def _list_remarks(finding: Finding, book: EvidenceBook, desk: ReportDesk) -> list[str]:
    lines = [f"{say('evidence', desk.kit.language)}: {', '.join(book.ids_of_finding(finding)) or say('none', desk.kit.language)}"]
    chosen = choose_relevant(finding.thoughts, desk.query.question, THOUGHTS_CHARS)
    lines += [f"{say('thought', desk.kit.language)}: {as_data(finding.thoughts[place])}" for place in chosen]
    lines += [f"{say('gap', desk.kit.language)}: {as_data(gap)}" for gap in finding.gaps]
    if finding.stop is not StopReason.SUFFICIENT:
        lines.append(f"({finding.stop.value})")
    return lines
