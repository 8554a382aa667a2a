"""The prompt of a whole report in one call: rules, evidence, what is known of the matter, question (MindDR sections 4.6 and 5.3).

Serving and training render it here, so that a policy is trained on the bytes that it is served with. The system message has the
day, the reader's wishes, the length and the form: a row keeps it as text, and the background too.
"""

from app.domain.chat import ChatRole, Message
from app.domain.query import Language
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


def render_whole_report(
    prompts: PromptLibrary, language: Language, system: str, question: str, evidence: str, background: str
) -> tuple[Message, Message]:
    """Return the two messages of the one call. Without evidence, as in the short form of report data, it says so."""
    user = prompts.get(WHOLE_REPORT.name, language).render_user(
        question=question, evidence=evidence or say("none", language), background=background
    )
    return Message(role=ChatRole.SYSTEM, content=system), user


def render_system_prompt(desk: ReportDesk) -> str:
    """Return the system prompt of the one call."""
    kit = desk.kit
    form = kit.codec.describe_form(WHOLE_REPORT, kit.prompts, kit.language)
    prompt = kit.prompts.get(WHOLE_REPORT.name, kit.language)
    length = say("length_set" if desk.length_set else "length_usual", kit.language, words=str(count_wanted_words(desk)))
    return prompt.render_system(today=kit.today.isoformat(), wishes=desk.wishes, length=length, form=form).content


def count_wanted_words(desk: ReportDesk) -> int:
    """Return the length that the one call is told, in words."""
    return desk.words if desk.length_set else max(desk.words, USUAL_WORDS)


def choose_evidence(desk: ReportDesk, chars: int) -> tuple[str, ...]:
    """Return the ids of the passages to show: all where they fit into `chars`, else first those that answers cite, then those
    that share most words with the question.

    The book's order is that of the prompt.
    """
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
