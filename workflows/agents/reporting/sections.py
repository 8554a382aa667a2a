"""Step three, the sections: each has a writer (agent path `report/section/<n>`) and evidence of its own; all run in parallel."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from app.domain.blocks import BlockKind
from app.domain.chat import Message
from app.domain.errors import ModelError
from app.domain.evidence import Passage, Quote
from app.domain.query import Language
from app.domain.run import EventType
from retrieval.language.blocks import blocks_of
from workflows.agents.answer_reading import check_length
from workflows.agents.asker import Asker
from workflows.agents.citation_cleaning import clean_citations, has_citation, remove_citations
from workflows.agents.concurrency import gather_all
from workflows.agents.evidence_book import format_conflicts
from workflows.agents.failures import describe_failure, refuse_answer
from workflows.agents.ports import BudgetSpent
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.drafts import tell_sections
from workflows.agents.reporting.headings import drop_title, flatten_headings, split_at_headings
from workflows.agents.reporting.outline import Outline
from workflows.agents.reporting.pieces import ReportPiece
from workflows.agents.reporting.placing import FilledSection
from workflows.agents.stage_memory import REPORTER
from workflows.agents.steps import TextStep
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say
from workflows.checks.source_lists import names_a_source_list

SECTION = TextStep("section", max_tokens=5_000)
MAX_QUOTED = 10
ANSWERS_SHARE = 0.25
"""The share of the evidence's room for the answers of findings."""


async def write_sections(desk: ReportDesk, outline: Outline, filled: list[FilledSection]) -> list[ReportPiece]:
    """Write all sections, in the order of the outline."""
    written = await gather_all([_write_section(desk, outline, section) for section in filled], desk.kit.bounds.sections_at_once)
    return [piece for pieces in written for piece in pieces]


async def _write_section(desk: ReportDesk, outline: Outline, filled: FilledSection) -> list[ReportPiece]:
    """Write one section; without the model it quotes its evidence."""
    agent = f"{REPORTER}/section/{filled.section.number}"
    quoted = ""
    try:
        text = await Asker(desk.kit, agent).write(
            SECTION, _render_messages(desk, outline, filled), partial(_check_section, desk, filled)
        )
    except (BudgetSpent, ModelError) as error:
        desk.budget_spent = desk.budget_spent or isinstance(error, BudgetSpent)
        quoted = describe_failure(error, desk.kit.language)
        message = word_quoted([filled.section.heading], quoted, desk.kit.language)
        await desk.kit.record.tell(EventType.WARNING, agent, {"message": message})
        text = quote_evidence(desk, filled)
    pieces = [replace(piece, quoted=quoted) for piece in cut_pieces(desk, filled, text)]
    await tell_sections(desk, agent, [pieces])
    return pieces


def is_mostly_quoted(pieces: Sequence[ReportPiece]) -> bool:
    """Say whether the model wrote less than half of the sections."""
    quoted = {piece.section: bool(piece.quoted) for piece in pieces}
    return 2 * sum(quoted.values()) > len(quoted)


def word_quoted(headings: Sequence[str], why: str, language: Language) -> str:
    """Return the sentence that tells which sections quote their evidence, because the model wrote none of them."""
    named = say("between_names", language).join(say("named", language, name=heading) for heading in headings)
    return say("sections_quoted", language, named=named, detail=why)


def _check_section(desk: ReportDesk, filled: FilledSection, text: str) -> None:
    """Check that a section cites evidence and keeps near its length.

    Raises:
        AnswerInvalid: the text cites nothing, or is far too long.
    """
    check_length(text, desk.kit.bounds.section_words, desk.kit.language)
    if not has_citation(clean_citations(text, desk.book.ids).text):
        raise refuse_answer("cites_nothing", desk.kit.language, id=filled.ids[0])


def _render_messages(desk: ReportDesk, outline: Outline, filled: FilledSection) -> tuple[Message, ...]:
    kit, section = desk.kit, filled.section
    none = say("none", kit.language)
    return desk.render(
        "section",
        title=outline.title,
        outline=outline.to_text(),
        section=section.to_text(),
        heading=section.heading,
        conflicts=format_conflicts(filled.conflicts) or none,
        evidence=_format_evidence(desk, filled) or none,
        words=str(kit.bounds.section_words),
        form=kit.codec.describe_form(SECTION, kit.prompts, kit.language),
    )


def _format_evidence(desk: ReportDesk, filled: FilledSection) -> str:
    """Return the section's passages, and the answers of the findings that have them."""
    book, chars = desk.book, desk.kit.bounds.evidence_chars
    told = [finding for finding in desk.findings if finding.answer and set(book.ids_of_finding(finding)) & set(filled.ids)]
    share = int(ANSWERS_SHARE * chars) // max(1, len(told))
    answers = [f"<finding>\n{as_data(book.put_ids(finding.answer)[:share])}\n</finding>" for finding in told]
    return "\n".join([book.format_passages(filled.ids, int((1 - ANSWERS_SHARE) * chars)), *answers])


def cut_pieces(desk: ReportDesk, filled: FilledSection, text: str) -> list[ReportPiece]:
    """Cut a written section at its headings, without the writer's own title and list of references."""
    section, allowed = filled.section, desk.book.ids
    pieces = [ReportPiece(section.number, 2, section.heading, "", allowed)]
    for part in split_at_headings(drop_title(text, section.heading)):
        if not part.heading or _is_same_heading(part.heading, section.heading):
            pieces[-1] = replace(pieces[-1], text=f"{pieces[-1].text}\n\n{part.text}".strip())
        elif not names_a_source_list(part.heading):
            pieces.append(ReportPiece(section.number, min(4, max(3, part.level)), part.heading, part.text, allowed))
    return [_clean_piece(desk, piece) for piece in pieces if piece.text or piece.level == 2]


def _clean_piece(desk: ReportDesk, piece: ReportPiece) -> ReportPiece:
    body, heading = clean_citations(piece.text, piece.allowed), clean_citations(piece.heading, ())
    desk.removed_citations += body.removed
    return replace(piece, text=flatten_headings(body.text), heading=heading.text or say("untitled", desk.kit.language))


def _is_same_heading(heading: str, other: str) -> bool:
    return _letters_of(heading) == _letters_of(other) or _letters_of(heading).endswith(_letters_of(other))


def _letters_of(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def quote_evidence(desk: ReportDesk, filled: FilledSection) -> str:
    """Return a section that needs no model: its quotes in the words of their sources, without headings, which state nothing."""
    about = filled.section.to_text()
    quotes = {short: desk.book.quote(short, about)[0] for short in filled.ids}
    stating = [short for short in filled.ids if not _is_heading(desk.book[short], quotes[short])] or filled.ids
    return "\n\n".join(_format_excerpt(desk, short, quotes[short]) for short in stating[:MAX_QUOTED])


def _is_heading(passage: Passage, quote: Quote) -> bool:
    """Say whether a quote lies in a heading of its passage."""
    headings = (block for block in blocks_of(passage) if block.kind is BlockKind.HEADING)
    return any(block.start <= quote.start and quote.end <= block.end for block in headings)


def _format_excerpt(desk: ReportDesk, short: str, quote: Quote) -> str:
    words = remove_citations(" ".join(quote.text.split()))
    return say("excerpt", desk.kit.language, title=quote.source.title, quote=words, mark=f"[{short}]")
