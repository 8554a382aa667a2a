"""Further questions about a finished report, with their answers: a thread beside it, the latest first."""

from collections.abc import Sequence
from datetime import timedelta

import streamlit as st

from rubrica_client import Client, reports
from rubrica_client.models import AnswerView, Run
from ui.components import safe_fragments
from ui.components.controls import send_command
from ui.components.markup import escape
from ui.components.report_view import make_article
from ui.language import say
from ui.report import PageReport
from ui.session import may

REFRESH = timedelta(seconds=2)


def show(client: Client, run: Run) -> Sequence[AnswerView]:
    """Draw the field for a further question and under it the answers, made from the stored evidence; return the answers."""
    if may("reports:write"):
        _show_field(client, run)
    answers = client.send(reports.questions(run.id)).items
    if any(map(_is_under_way, answers)):
        safe_fragments.make_fragment(_show_until_answered, run_every=REFRESH)(client, run)
    elif answers:
        _show_thread(answers)
    else:
        st.html(f'<p class="r-quiet">{escape(say("follow.none"))}</p>')
    return answers


def _show_field(client: Client, run: Run) -> None:
    with st.container(key="follow_bar"):  # without it, Streamlit pins the field to the end of the page and opens the page there
        question = st.chat_input(say("follow.hint"), key="follow_up", max_chars=2_000)
    if question and question.strip():
        send_command(lambda: client.send(reports.ask(run.id, question.strip())), say("follow.asked"))


def _is_under_way(answer: AnswerView) -> bool:
    return answer.answered is None and answer.status != "failed"


def _show_until_answered(client: Client, run: Run) -> None:
    """Draw the answers on each refresh. When all are there, run the whole page again, so that their numbers open citations."""
    answers = client.send(reports.questions(run.id)).items
    if not any(map(_is_under_way, answers)):
        st.rerun()
    _show_thread(answers)


def _show_thread(answers: Sequence[AnswerView]) -> None:
    for answer in answers:
        st.html(answer_html(answer))


def answer_html(answer: AnswerView) -> str:
    """Return a question with its answer, or its state, as HTML. Each number opens its citation, as in the report (`cited`)."""
    if answer.status == "failed":
        body = f'<div class="r-note bad">{escape(answer.detail)}</div>'
    elif answer.answered is None:
        body = f'<p class="r-quiet" role="status">{escape(say("follow.working"))}</p>'
    else:
        unsaid = "" if answer.answered else f'<p class="r-quiet">{escape(say("follow.unanswered"))}</p>'
        body = unsaid + make_article(PageReport.of_answer(answer), mark=_mark_of(answer)).html
    return f'<div class="r-report r-answer"><h3>{escape(answer.question)}</h3>{body}</div>'


def index_citations(answers: Sequence[AnswerView]) -> dict[str, PageReport]:
    """Return the answers that have citations, by the prefix of their names on the page."""
    return {_mark_of(answer): PageReport.of_answer(answer) for answer in answers if answer.citations}


def _mark_of(answer: AnswerView) -> str:
    return f"q{answer.id}-"
