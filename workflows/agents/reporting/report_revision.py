"""One revision of a report by its writer, after a judge found it lacking: edits and additions within the run's evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from app.domain.citations import MARKER
from app.domain.report import Report, Section
from workflows.agents.asker import Asker
from workflows.agents.citation_cleaning import clean_citations, has_citation
from workflows.agents.cited_statements import put_markers
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.edits import MAX_EDITS, EditAnswer, apply_edits
from workflows.agents.reporting.headings import flatten_headings
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

REVISION_AGENT = "report/revision"
MAX_ADDITIONS = 8
ADDITION_CHARS = 4_000
HEADING_CHARS = 160


class SectionEditAnswer(EditAnswer):
    """One replacement inside one section."""

    section: int = Field(default=0, description="number of the section")


class AdditionAnswer(StepAnswer):
    """A paragraph that is missing."""

    section: int = Field(default=0, description="number of the section it is added to; 0 for a section of its own at the end")
    heading: str = Field(default="", description="heading of a section of its own; else empty")
    text: str = Field(default="", max_length=ADDITION_CHARS, description="the paragraph in Markdown, with its citations")


class RevisionAnswer(StepAnswer):
    """The changes to a report."""

    edits: tuple[SectionEditAnswer, ...] = Field(default=(), description="replacements inside sections")
    additions: tuple[AdditionAnswer, ...] = Field(default=(), description="paragraphs that are missing")


REVISION = declare_step("revision", RevisionAnswer, max_tokens=6_000)


@dataclass(frozen=True, slots=True)
class ReportLack:
    """A demand that the report fails, and the judge's reason. `fault` marks something that the report does and should not do."""

    demand: str
    reason: str
    fault: bool


async def revise_report(report: Report, lacks: Sequence[ReportLack], desk: ReportDesk) -> Report:
    """Revise the report once. Return it unchanged when the model has no answer or none of its changes is sound.

    An addition has to cite. No text may cite what the run has not found.
    """
    messages = desk.render(
        "revision",
        lacks="\n".join(_format_lack(desk, lack) for lack in lacks),
        report=_number_sections(report, desk),
        evidence=desk.book.format_passages(desk.book.ids, desk.kit.bounds.evidence_chars) or say("none", desk.kit.language),
        form=desk.kit.codec.describe_form(REVISION, desk.kit.prompts, desk.kit.language),
    )
    answer = await desk.ask(Asker(desk.kit, REVISION_AGENT), REVISION, messages, "revision_failed")
    if answer is None:
        return report
    bodies = [desk.book.put_ids(section.body) for section in report.sections]
    for edit in answer.edits[:MAX_EDITS]:
        _apply_edit(bodies, edit, desk)
    sections = [*report.sections]
    for addition in answer.additions[:MAX_ADDITIONS]:
        _add_paragraph(sections, bodies, addition, desk)
    return _replace_bodies(report, sections, bodies, desk)


def _format_lack(desk: ReportDesk, lack: ReportLack) -> str:
    kind = say("avoid" if lack.fault else "achieve", desk.kit.language)
    return f"- {kind}: {as_data(lack.demand)} ({as_data(lack.reason)})" if lack.reason else f"- {kind}: {as_data(lack.demand)}"


def _number_sections(report: Report, desk: ReportDesk) -> str:
    share = max(400, desk.kit.bounds.conversation_chars // max(1, len(report.sections)))
    texts = (desk.book.put_ids(section.body)[:share] for section in report.sections)
    return "\n\n".join(
        f"{'#' * section.level} [section {number}] {section.heading}\n{as_data(text)}"
        for number, (section, text) in enumerate(zip(report.sections, texts, strict=True), 1)
    )


def _apply_edit(bodies: list[str], edit: SectionEditAnswer, desk: ReportDesk) -> None:
    place = edit.section - 1
    if 0 <= place < len(bodies) and (edited := apply_edits(bodies[place], [edit])) != bodies[place]:
        bodies[place] = flatten_headings(clean_citations(edited, desk.book.ids).text)


def _add_paragraph(sections: list[Section], bodies: list[str], addition: AdditionAnswer, desk: ReportDesk) -> None:
    text = flatten_headings(clean_citations(addition.text, desk.book.ids).text)
    if not has_citation(text):
        return
    place, heading = addition.section - 1, " ".join(clean_citations(addition.heading, ()).text.split())[:HEADING_CHARS]
    if 0 <= place < len(bodies):
        bodies[place] = f"{bodies[place]}\n\n{text}".strip()
    elif heading:
        sections.append(Section(heading=heading.strip("#* ") or say("untitled", desk.kit.language)))
        bodies.append(text)


def _replace_bodies(report: Report, sections: Sequence[Section], bodies: Sequence[str], desk: ReportDesk) -> Report:
    """Return the report with these bodies. An unchanged section keeps its body exactly."""
    before = [desk.book.put_ids(section.body) for section in report.sections]
    known = {quote.key: quote for quote in report.quotes}
    new: list[Section] = []
    for place, (section, body) in enumerate(zip(sections, bodies, strict=True)):
        if place >= len(before) or body != before[place]:
            written = put_markers(body, desk.book)
            known |= {quote.key: quote for quote in written.quotes}
            section = section.model_copy(update={"body": written.body})
        new.append(section)
    if tuple(new) == report.sections:
        return report
    cited = dict.fromkeys(key.strip() for section in new for key in MARKER.findall(section.body))
    return report.model_copy(update={"sections": tuple(new), "quotes": tuple(known[key] for key in cited if key in known)})
