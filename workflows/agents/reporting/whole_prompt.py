"""The prompt of a whole report in one call: evidence, what is known of the matter, question, task (MindDR sections 4.6 and 5.3).

Serving and training render it here, so that a policy is trained on the bytes that it is served with. The evidence stands first:
who judges the report begins with the same words, which a server that keeps prefixes reads once. The task has the day, the
reader's wishes, the length and the form: a row keeps it as text, and the background too.
"""

from collections.abc import Mapping
from typing import NamedTuple

from app.domain.chat import Message
from app.domain.evidence import Passage
from app.domain.query import Language
from app.domain.report import Report
from app.domain.writer import Composition
from workflows.agents.evidence_book import format_conflicts
from workflows.agents.memory_text import choose_relevant
from workflows.agents.reader_wants import tell_all, tell_writer
from workflows.agents.reporting.desk import ReportDesk
from workflows.agents.steps import TextStep
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say
from workflows.prompts.library import PromptLibrary

USUAL_WORDS = 2_000
"""What the shortest effort allows a report whose reader set no length."""
WHOLE_REPORT = TextStep("single_pass", max_tokens=12_000)


class ShownEvidence(NamedTuple):
    """The passages that a prompt shows, as text and by id."""

    text: str
    passages: Mapping[str, Passage]


class WholePrompt(NamedTuple):
    """What the prompt of a whole report has after its evidence."""

    background: str
    task: str


def render_whole_report(
    prompts: PromptLibrary, language: Language, question: str, evidence: str, told: WholePrompt
) -> tuple[Message, Message]:
    """Return the two messages of the one call. Without evidence, as in the short form of report data, it says so."""
    asked = prompts.get(WHOLE_REPORT.name, language).render_text(question=question, **told._asdict())
    return render_with_evidence(prompts, language, evidence, asked)


def render_with_evidence(prompts: PromptLibrary, language: Language, evidence: str, asked: str) -> tuple[Message, Message]:
    """Return a request about passages, which stand first."""
    system, user = prompts.get("evidence", language).render(evidence=evidence or say("none", language))
    return system, user.model_copy(update={"content": f"{user.content}\n\n{asked}"})


def read_whole_report(message: str, question: str) -> WholePrompt | None:
    """Return background and task from the user message of the one call; None if it has another form."""
    _, _, after = message.partition("</evidence>\n\n")
    background, asked, task = after.partition(f"<question>\n{question}\n</question>\n\n<task>\n")
    return WholePrompt(background.rstrip("\n"), task.removesuffix("\n</task>")) if asked else None


def render_task(desk: ReportDesk) -> str:
    """Return the task of the one call."""
    kit = desk.kit
    form = kit.codec.describe_form(WHOLE_REPORT, kit.prompts, kit.language)
    length = say("length_set" if desk.length_set else "length_usual", kit.language, words=str(count_wanted_words(desk)))
    task = kit.prompts.get("writing_task", kit.language)
    return task.render_text(today=kit.today.isoformat(), wishes=desk.wishes, length=length, form=form)


def count_wanted_words(desk: ReportDesk) -> int:
    """Return the length that the one call is told, in words."""
    return desk.words if desk.length_set else max(desk.words, USUAL_WORDS)


def show_evidence(desk: ReportDesk, chars: int) -> ShownEvidence:
    """Return the passages to show: all where they fit into `chars`, else first those that answers cite, then those that share
    most words with the question.
    """
    ids = _choose_ids(desk, chars)
    return ShownEvidence(desk.book.format_passages(ids, chars), {short: desk.book[short] for short in ids})


def show_what_was_read(report: Report, desk: ReportDesk) -> ShownEvidence | None:
    """Return the passages that the one call which wrote this report was shown; None where section writers wrote it."""
    whole = report.composition is Composition.SINGLE_PASS
    return show_evidence(desk, desk.kit.bounds.evidence_chars) if whole else None


def _choose_ids(desk: ReportDesk, chars: int) -> tuple[str, ...]:
    """Return the ids of the passages to show, in the book's order, which is that of the prompt."""
    book = desk.book
    if sum(len(book[short].text) for short in book.ids) <= chars:
        return book.ids
    cited = {short for finding in desk.findings for short in book.ids_in(book.put_ids(finding.answer))}
    asked = (subtask.question for subtask in desk.plan.subtasks)
    about = " ".join([desk.query.question, tell_all(desk.plan, desk.kit.language), *asked])
    chosen: list[str] = []
    for group in ([s for s in book.ids if s in cited], [s for s in book.ids if s not in cited]):
        left = chars - sum(len(book[short].text) for short in chosen)
        chosen += [group[place] for place in choose_relevant([book[short].text for short in group], about, left)]
    return tuple(short for short in book.ids if short in chosen) or book.ids[:1]


def format_background(desk: ReportDesk) -> str:
    """Return what the writer knows beside the passages: wishes, plan, answers, gaps, disagreements, criteria."""
    language, book = desk.kit.language, desk.book
    gaps = dict.fromkeys(as_data(gap) for finding in desk.findings for gap in finding.gaps)
    parts = [
        ("wants", tell_writer(desk.plan, language)),
        ("reader_notes", desk.notes),
        ("plan", _format_plan(desk)),
        ("answers", "\n\n".join(_format_answer(desk, finding.subtask_id, finding.answer) for finding in desk.findings)),
        ("open", "\n".join(f"- {gap}" for gap in gaps)),
        ("conflict", format_conflicts(book.list_conflicts())),
        ("judged_by", desk.criteria),
    ]
    return "\n\n".join(f"{say(what, language)}:\n{text.strip()}" for what, text in parts if text.strip())


def _format_plan(desk: ReportDesk) -> str:
    """Return the parts that were looked for; empty where the question was not split."""
    parts = [subtask for subtask in desk.plan.subtasks if subtask.question != desk.query.question]
    return "\n".join(f"- {part.title}: {part.question}" for part in parts)


def _format_answer(desk: ReportDesk, subtask_id: str, answer: str) -> str:
    title = next((s.title for s in desk.plan.subtasks if s.id == subtask_id), subtask_id)
    return f"## {title}\n{as_data(desk.book.put_ids(answer))}" if answer.strip() else ""
