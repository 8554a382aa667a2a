"""The report in one call: the policy that Report-RL trains (MindDR section 5.3). Everything after the text is as for sections."""

from collections.abc import Sequence
from functools import partial

from app.domain.chat import Message
from app.domain.errors import ModelError
from app.domain.report import Report
from app.domain.run import EventType
from app.domain.writer import Composition
from workflows.agents.answer_reading import check_length
from workflows.agents.citation_cleaning import clean_citations, has_citation, list_cited_ids
from workflows.agents.failures import refuse_answer
from workflows.agents.ports import BudgetSpent
from workflows.agents.reporting.aggregation import FilledSection, collect_disagreements
from workflows.agents.reporting.assembly import assemble_report
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.drafts import tell_outline
from workflows.agents.reporting.outline import Outline, OutlinedSection
from workflows.agents.reporting.sections import ReportPiece
from workflows.agents.reporting.single_pass_prompt import (
    SINGLE_PASS_PROMPT,
    ShownQuote,
    choose_quotes,
    render_single_pass,
)
from workflows.agents.reporting.whole_text import cut_whole_report
from workflows.agents.steps import TextStep
from workflows.agents.wording import say

SINGLE_PASS = TextStep(SINGLE_PASS_PROMPT, max_tokens=10_000)


async def write_in_one_pass(desk: ReportDesk, outline: Outline) -> Report | None:
    """Return the report that one call writes; None where the model gives none that can be used, and the desk says why."""
    if desk.budget_spent:
        return None
    kit, about = desk.kit, f"{desk.query.question}\n{outline.to_text()}"
    shown = choose_quotes(desk.book, about, kit.bounds.evidence_chars)
    if left := len(desk.book) - len(shown):
        await kit.record.tell(EventType.WARNING, desk.asker.agent, {"message": say("left_out", kit.language, n=left)})
    ids = [quote.id for quote in shown]
    await tell_outline(desk, outline)
    try:
        text = await desk.asker.write(SINGLE_PASS, _render_messages(desk, outline, shown), partial(_check_report, desk, ids))
        title, pieces = cut_whole_report(desk, text, ids)
        if not any(has_citation(piece.text) for piece in pieces):
            raise refuse_answer("cites_nothing", kit.language, id=ids[0])
    except BudgetSpent:
        desk.budget_spent = True
        return None
    except ModelError as error:
        await desk.note_failure(desk.asker.agent, "single_pass_refused", error)
        return None
    report = assemble_report(desk, Outline(title or outline.title, ()), _place_disagreements(desk, pieces), pieces)
    return report.model_copy(update={"composition": Composition.SINGLE_PASS})


def _render_messages(desk: ReportDesk, outline: Outline, shown: Sequence[ShownQuote]) -> tuple[Message, ...]:
    return render_single_pass(
        desk.kit.prompts, desk.kit.language, render_system_prompt(desk), desk.query.question, outline, shown
    )


def render_system_prompt(desk: ReportDesk) -> str:
    """Return the system prompt of the one call: the day, the reader's wants and wishes, the length, and the form."""
    kit, values = desk.kit, desk.frame_values()
    del values["question"]
    prompt = kit.prompts.get(SINGLE_PASS_PROMPT, kit.language)
    form = kit.codec.describe_form(SINGLE_PASS, kit.prompts, kit.language)
    return prompt.render_system(**values, wishes=desk.wishes, words=str(_words_of(desk)), form=form).content


def _words_of(desk: ReportDesk) -> int:
    return desk.kit.bounds.sections * desk.kit.bounds.section_words


def _check_report(desk: ReportDesk, ids: Sequence[str], text: str) -> None:
    """Check that the report cites its evidence and keeps near its length.

    Raises:
        AnswerInvalid: it cites no quote that its writer was shown, or is far too long.
    """
    check_length(text, _words_of(desk), desk.kit.language)
    if not has_citation(clean_citations(text, ids).text):
        raise refuse_answer("cites_nothing", desk.kit.language, id=ids[0])


def _place_disagreements(desk: ReportDesk, pieces: Sequence[ReportPiece]) -> list[FilledSection]:
    """Put each disagreement of the sources into the piece that cites most of its sides, the first of those."""
    placed = []
    for conflict in collect_disagreements(desk.book):
        best = max(pieces, key=lambda piece: (len(set(conflict.ids) & set(list_cited_ids(piece.text))), -piece.section))
        placed.append(FilledSection(OutlinedSection(best.section, best.heading, ""), conflicts=[conflict]))
    return placed
