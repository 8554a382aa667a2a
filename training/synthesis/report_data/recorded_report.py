"""What a recorded run left of its report: prompt, retrieval, outline, text."""

from collections.abc import Sequence

from app.domain.chat import Message
from app.domain.errors import AnswerInvalid
from app.domain.query import Language, ResearchQuery
from app.domain.trajectory import Trajectory, Turn
from app.domain.value import Value
from workflows.agents.answer_reading import read_answer
from workflows.agents.planning import INTENT
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.outline import (
    OUTLINE,
    Outline,
    OutlineAnswer,
    read_kept_outline,
    repair_outline,
    to_outline_answer,
)
from workflows.agents.reporting.sections import SECTION
from workflows.agents.reporting.single_pass import SINGLE_PASS, render_system_prompt
from workflows.agents.reporting.single_pass_prompt import ShownQuote, read_shown_quotes, render_single_pass
from workflows.agents.untrusted import as_attribute
from workflows.prompts.library import PromptLibrary

MOST_CHARS = 120_000


class RetrievedText(Value):
    """A text that the writer of the report is given. `id` is the one it cites by; empty: its place, from q1.

    `published` is an ISO date or empty; `around` is the text next to a quote in its source.
    """

    url: str
    title: str
    text: str
    id: str = ""
    published: str = ""
    around: str = ""


class RecordedReportTask(Value):
    """What the writer of a report was given."""

    system_prompt: str
    retrieval: tuple[RetrievedText, ...]
    outline: OutlineAnswer


def read_report_task(trajectory: Trajectory, desk: ReportDesk) -> RecordedReportTask | None:
    """Return what the report was, or would be, written from in one call; None where no model planned and wrote it.

    A run with section writers has the passages of its searches, and the system prompt that the one call would have had. `desk` is
    that of the question, without findings.
    """
    outline = _find_outline(trajectory, desk.kit.bounds.sections)
    if outline is None:
        return None
    whole = _find_single_pass(trajectory)
    if whole is not None:
        system, user = (message.content for message in whole.messages)
        return RecordedReportTask(
            system_prompt=system, retrieval=_list_shown(trajectory, user), outline=to_outline_answer(outline)
        )
    if not any(turn.step == SECTION.name and turn.completion for turn in trajectory.turns):
        return None
    return RecordedReportTask(
        system_prompt=render_system_prompt(desk),
        retrieval=tuple(list_retrieved(trajectory)),
        outline=to_outline_answer(outline),
    )


def render_report_task(
    prompts: PromptLibrary, language: Language, question: str, task: RecordedReportTask
) -> tuple[Message, ...]:
    """Return the prompt of a row, long or short: for a run that wrote in one call, the bytes that it was served with."""
    quotes = [
        ShownQuote(id=found.id or f"q{place}", title=found.title, text=found.text, published=found.published, around=found.around)
        for place, found in enumerate(task.retrieval, 1)
    ]
    asked = ResearchQuery(question=question).question
    return render_single_pass(prompts, language, task.system_prompt, asked, read_kept_outline(task.outline), quotes)


def find_intent(trajectory: Trajectory, language: Language) -> str:
    """Return the planner's analysis of the question as its agents read it; empty where there is none."""
    for turn in reversed(trajectory.turns):
        if turn.step == INTENT.name and turn.completion is not None:
            try:
                return read_answer(INTENT, turn.completion.text).to_text(language)
            except AnswerInvalid:
                continue
    return ""


def _find_outline(trajectory: Trajectory, most: int) -> Outline | None:
    """Return the last usable outline, repaired as its report agent repaired it; None where there is none with a title."""
    for turn in reversed(trajectory.turns):
        if turn.step == OUTLINE.name and turn.completion is not None:
            try:
                outline = repair_outline(read_answer(OUTLINE, turn.completion.text), most, "")
            except AnswerInvalid:
                continue
            if outline is not None and outline.title:
                return outline
    return None


def _find_single_pass(trajectory: Trajectory) -> Turn | None:
    """Return the first request for the whole report, before any correction."""
    return next((t for t in trajectory.turns if t.step == SINGLE_PASS.name and len(t.messages) == 2 and not t.carried), None)


def _list_shown(trajectory: Trajectory, message: str) -> tuple[RetrievedText, ...]:
    """Return the quotes of the message, with the addresses of the sources of these titles."""
    found = (p.source for turn in trajectory.turns if turn.result for p in turn.result.passages)
    urls = {as_attribute(source.title).strip(): source.url for source in found}
    return tuple(
        RetrievedText(url=urls.get(q.title, ""), title=q.title, text=q.text, id=q.id, published=q.published, around=q.around)
        for q in read_shown_quotes(message)
    )


def list_retrieved(trajectory: Trajectory, most_chars: int = MOST_CHARS) -> list[RetrievedText]:
    """Return the distinct passages that the tools brought, in their order, up to a number of characters."""
    passages = {p.key: p for turn in trajectory.turns if turn.result for p in turn.result.passages}
    found = [RetrievedText(url=p.source.url, title=p.source.title, text=p.text) for p in passages.values()]
    return _take_chars(found, most_chars)


def _take_chars(texts: Sequence[RetrievedText], most: int) -> list[RetrievedText]:
    taken = []
    for each in texts:
        most -= len(each.text)
        if most < 0:
            break
        taken.append(each)
    return taken
