"""What a recorded run left of its report: prompt, retrieval, outline, text."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from pydantic import ConfigDict, model_validator

from app.domain.chat import Message
from app.domain.errors import AnswerInvalid
from app.domain.query import Language, ResearchQuery
from app.domain.trajectory import Trajectory, Turn
from app.domain.value import Value
from training.rewards.notations import Notation
from workflows.agents.answer_reading import read_answer
from workflows.agents.codec import TagCodec
from workflows.agents.parsing import remove_thinking
from workflows.agents.planning import INTENT, IntentAnswer
from workflows.agents.reporting.assembly import TOP_LEVEL
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.reporting.outline import (
    OUTLINE,
    Outline,
    OutlineAnswer,
    SectionAnswer,
    read_kept_outline,
    repair_outline,
    to_outline_answer,
)
from workflows.agents.reporting.pieces import cut_whole_report
from workflows.agents.reporting.sections import SECTION
from workflows.agents.reporting.whole_prompt import WHOLE_REPORT, WholePrompt, read_whole_report, render_task, render_whole_report
from workflows.agents.shown_passages import URL_CHARS, ShownPassage, format_documents, read_documents
from workflows.agents.untrusted import as_attribute, as_source
from workflows.prompts.library import PromptLibrary

MOST_CHARS = 120_000


class RetrievedText(Value):
    """A text that the writer of the report is given. `id` is the one it cites by; empty: its place, from q1.

    `published` is an ISO date or empty.
    """

    url: str
    title: str
    text: str
    id: str = ""
    author: str = ""
    published: str = ""

    @model_validator(mode="before")
    @classmethod
    def _drop_surroundings(cls, said: Any) -> Any:
        """Leave out the text around a quote, which rows had when writers were shown quotes."""
        return {name: value for name, value in said.items() if name != "around"} if isinstance(said, dict) else said


class RecordedReportTask(Value):
    """What the writer of a report was given. `background` is what it was told beside the passages; the outline, without any.

    `system_prompt` is its task, which stands behind these; `asked_on` the day that it names, None in rows older than it.
    """

    system_prompt: str
    retrieval: tuple[RetrievedText, ...]
    outline: OutlineAnswer
    background: str = ""
    asked_on: date | None = None

    @property
    def sources(self) -> dict[str, str]:
        """The texts by the ids under which the prompt shows them."""
        return {found.id or f"q{place}": found.text for place, found in enumerate(self.retrieval, 1)}


class ReportTaskRow(RecordedReportTask):
    """A line of report data as far as its prompt needs it; other fields are left out."""

    model_config = ConfigDict(extra="ignore")

    id: str = ""
    query: str
    language: Language
    topic: str = ""
    documents: tuple[str, ...] = ()


def read_report_task(trajectory: Trajectory, desk: ReportDesk) -> RecordedReportTask | None:
    """Return what the report was, or would be, written from in one call; None where no model planned and wrote it.

    A run with section writers has the passages of its searches, its outline, and the task that the one call would have had.
    `desk` is that of the question, without findings.
    """
    whole = _find_whole_report(trajectory)
    if whole is not None and whole.completion is not None:
        system, user = (message.content for message in whole.messages)
        told = read_whole_report(user, desk.query.question) or _read_earlier(user, system)
        return RecordedReportTask(
            system_prompt=told.task,
            retrieval=tuple(RetrievedText(**dict(shown)) for shown in read_documents(user)),
            outline=_outline_of_text(desk, whole.completion.text),
            background=told.background,
            asked_on=desk.kit.today,
        )
    outline = _find_outline(trajectory, desk.kit.bounds.sections)
    if outline is None or not any(turn.step == SECTION.name and turn.completion for turn in trajectory.turns):
        return None
    return RecordedReportTask(
        system_prompt=render_task(desk),
        retrieval=tuple(list_retrieved(trajectory)),
        outline=to_outline_answer(outline),
        asked_on=desk.kit.today,
    )


def _read_earlier(user: str, system: str) -> WholePrompt:
    """Read a call of a run from when the task was the system message, and the question stood last."""
    _, _, rest = user.partition("</evidence>\n\n")
    return WholePrompt(rest.rpartition("\n\n")[0], system)


def find_notation(task: RecordedReportTask, language: Language, prompts: PromptLibrary) -> Notation:
    """Return the notation that a task asks for: the report in a tag, or nothing but the report."""
    tags = TagCodec().describe_form(WHOLE_REPORT, prompts, language)
    return Notation.TAGS if tags in task.system_prompt else Notation.SCHEMA


def _outline_of_text(desk: ReportDesk, text: str) -> OutlineAnswer:
    """Return title and headings of a report that was written at once."""
    title, pieces = cut_whole_report(desk, remove_thinking(text), ())
    sections = [SectionAnswer(heading=piece.heading) for piece in pieces if piece.level == TOP_LEVEL]
    return OutlineAnswer(title=title, sections=tuple(sections))


def render_report_task(
    prompts: PromptLibrary, language: Language, question: str, task: RecordedReportTask
) -> tuple[Message, ...]:
    """Return the prompt of a row, long or short: for a run that wrote in one call, the bytes that it was served with."""
    shown = [_show_text(f"q{place}", found) for place, found in enumerate(task.retrieval, 1)]
    outline = read_kept_outline(task.outline) if not task.background else None
    background = task.background or (f"# {outline.title}\n{outline.to_text()}" if outline else "")
    asked = ResearchQuery(question=question).question
    told = WholePrompt(background, task.system_prompt)
    return render_whole_report(prompts, language, asked, format_documents(shown), told)


def _show_text(short: str, found: RetrievedText) -> ShownPassage:
    """Return a text as it is shown. What was shown before stays as it is."""
    return ShownPassage(
        id=found.id or short,
        url=as_attribute(found.url, URL_CHARS),
        title=as_attribute(found.title),
        author=as_attribute(found.author),
        published=found.published,
        text=as_source(found.text).strip(),
    )


def find_intent(trajectory: Trajectory) -> IntentAnswer:
    """Return the planner's analysis of the question an empty one where there is none."""
    for turn in reversed(trajectory.turns):
        if turn.step == INTENT.name and turn.completion is not None:
            try:
                return read_answer(INTENT, turn.completion.text)
            except AnswerInvalid:
                continue
    return IntentAnswer()


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


def _find_whole_report(trajectory: Trajectory) -> Turn | None:
    """Return the first request for the whole report, before any correction."""
    return next((t for t in trajectory.turns if t.step == WHOLE_REPORT.name and len(t.messages) == 2 and not t.carried), None)


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
