"""The report in one call over whole passages, and one critical pass: the policy that Report-RL trains (MindDR section 5.3)."""

from collections.abc import Sequence
from functools import partial

from app.domain.chat import Message
from app.domain.errors import ContextTooLong, ModelError
from app.domain.report import Report
from app.domain.run import EventType
from app.domain.writer import Composition
from workflows.agents.answer_reading import check_length
from workflows.agents.citation_cleaning import clean_citations, has_citation
from workflows.agents.failures import refuse_answer
from workflows.agents.ports import BudgetSpent
from workflows.agents.reporting.assembly import assemble_report
from workflows.agents.reporting.critique import criticise
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.drafts import tell_draft
from workflows.agents.reporting.pieces import ReportPiece, cut_whole_report
from workflows.agents.reporting.whole_prompt import (
    WHOLE_REPORT,
    WholePrompt,
    count_wanted_words,
    format_background,
    render_task,
    render_whole_report,
    show_evidence,
)
from workflows.agents.wording import say

CUT_TO = 0.5
"""What is left of the evidence when a server finds the prompt too long."""


async def write_in_one_pass(desk: ReportDesk) -> Report | None:
    """Return the report that one call writes; None where the model gives none that can be used, and the desk says why."""
    if desk.budget_spent:
        return None
    try:
        messages, ids, text = await _write(desk)
        title, pieces = _cut(desk, text, ids)
        await tell_draft(desk, title, pieces)
        if (edited := await criticise(desk, messages, text)) != text:
            desk.removed_citations = 0
            title, pieces = _cut(desk, edited, ids)
    except BudgetSpent:
        desk.budget_spent = True
        return None
    except ModelError as error:
        await desk.note_failure(desk.asker.agent, "single_pass_refused", error)
        return None
    report = assemble_report(desk, title, pieces)
    return report.model_copy(update={"composition": Composition.SINGLE_PASS})


async def _write(desk: ReportDesk) -> tuple[Sequence[Message], tuple[str, ...], str]:
    """Return the request, the ids that it shows, and its answer. What is too long for the server is cut once, and asked again."""
    chars = desk.kit.bounds.evidence_chars
    try:
        return await _write_within(desk, chars)
    except ContextTooLong:
        return await _write_within(desk, int(CUT_TO * chars))


async def _write_within(desk: ReportDesk, chars: int) -> tuple[Sequence[Message], tuple[str, ...], str]:
    kit, shown = desk.kit, show_evidence(desk, chars)
    ids = tuple(shown.passages)
    if left := len(desk.book) - len(ids):
        await kit.record.tell(EventType.WARNING, desk.asker.agent, {"message": say("left_out", kit.language, n=left)})
    told = WholePrompt(format_background(desk), render_task(desk))
    messages = render_whole_report(kit.prompts, kit.language, desk.query.question, shown.text, told)
    return messages, ids, await desk.asker.write(WHOLE_REPORT, messages, partial(_check_report, desk, ids))


def _cut(desk: ReportDesk, text: str, ids: Sequence[str]) -> tuple[str, list[ReportPiece]]:
    title, pieces = cut_whole_report(desk, text, ids)
    if not any(has_citation(piece.text) for piece in pieces):
        raise refuse_answer("cites_nothing", desk.kit.language, id=ids[0])
    return title, pieces


def _check_report(desk: ReportDesk, ids: Sequence[str], text: str) -> None:
    """Check that the report cites its evidence and keeps near its length.

    Raises:
        AnswerInvalid: it cites no passage that its writer was shown, or is far too long.
    """
    check_length(text, count_wanted_words(desk), desk.kit.language)
    if not has_citation(clean_citations(text, ids).text):
        raise refuse_answer("cites_nothing", desk.kit.language, id=ids[0])
