"""Actions on a finished report: ask a further question, share it by a link, and go back to an older version."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

import streamlit as st

from rubrica_client import ApiError, Client, reports
from rubrica_client.models import AnswerView, CreatedShare, ReportDiff, Run, Usage, VersionInfo
from ui.components import problem
from ui.components.controls import act
from ui.components.markup import text
from ui.components.report_view import article
from ui.facts import count_tokens
from ui.figures import compact, money
from ui.language import named, say, when
from ui.report import Report
from ui.session import page_address

REFRESH = timedelta(seconds=2)
DAYS = (1, 7, 30, 90)


def share(client: Client, run: Run) -> None:
    """Draw the form that makes a public link. The link's address is shown only until the reader leaves the page."""
    st.caption(say("share.help"))
    days = st.segmented_control(say("share.days"), DAYS, default=7, required=True, key="share_days")
    if st.button(say("share.make"), key="share", type="primary"):
        try:
            st.session_state["made_link"] = (run.id, client.send(reports.share(run.id, days or 7)))
        except ApiError as error:
            problem.show(error)
            return
    made: tuple[str, CreatedShare] | None = st.session_state.get("made_link")
    if made is None or made[0] != run.id:
        return
    link = made[1]
    st.html(f'<div class="r-note" role="status">{text(say("share.once", when=when(link.expires_at, "day")))}</div>')
    st.code(page_address(f"/shared/{link.token}"), language=None, wrap_lines=True)


def links(client: Client, run: Run) -> None:
    """Draw the links that exist, each with its end. Nobody stores their addresses, so these cannot be shown."""
    open_links = [link for link in client.send(reports.shares(run.id)).items if link.revoked_at is None]
    if open_links:
        st.caption(say("share.there"))
    for link in open_links:
        with st.container(horizontal=True, vertical_alignment="center", key=f"link_{link.id}"):
            st.html(f'<span class="r-quiet">{text(say("team.until", when=when(link.expires_at, "day")))}</span>')
            if st.button(say("team.revoke"), key=f"revoke_{link.id}"):
                act(partial(client.send, reports.revoke_share(run.id, link.id)), say("share.revoked"))
                st.session_state.pop("made_link", None)


def follow_ups(client: Client, run: Run) -> Sequence[AnswerView]:
    """Draw the field for a further question and the answers so far, made from the stored evidence; return the answers."""
    with st.container():  # without it, Streamlit pins the field to the end of the page and opens the page there
        question = st.chat_input(say("follow.hint"), key="follow_up", max_chars=2_000)
    if question and question.strip():
        act(lambda: client.send(reports.ask(run.id, question.strip())), say("follow.asked"))
    answers = client.send(reports.questions(run.id)).items
    if any(map(_under_way, answers)):
        st.fragment(_working, run_every=REFRESH)(client, run)
        return ()
    for answer in answers:
        st.html(answer_html(answer))
    return answers


def _under_way(answer: AnswerView) -> bool:
    return answer.answered is None and answer.status != "failed"


def _working(client: Client, run: Run) -> None:
    """Draw the answers on each refresh. When all are there, run the whole page again, so that their numbers open citations."""
    answers = client.send(reports.questions(run.id)).items
    if not any(map(_under_way, answers)):
        st.rerun()
    for answer in answers:
        st.html(answer_html(answer))


def answer_html(answer: AnswerView) -> str:
    """Return a question with its answer, or its state, as HTML. Each number opens its citation, as in the report (`cited`)."""
    if answer.status == "failed":
        body = f'<div class="r-note bad">{text(answer.detail)}</div>'
    elif answer.answered is None:
        body = f'<p class="r-quiet" role="status">{text(say("follow.working"))}</p>'
    else:
        unsaid = "" if answer.answered else f'<p class="r-quiet">{text(say("follow.unanswered"))}</p>'
        body = unsaid + article(Report.of_answer(answer), mark=_mark(answer)).html
    return f'<div class="r-report r-answer"><h3>{text(answer.question)}</h3>{body}</div>'


def cited(answers: Sequence[AnswerView]) -> dict[str, Report]:
    """Return the answers that have citations, by the prefix of their names on the page."""
    return {_mark(answer): Report.of_answer(answer) for answer in answers if answer.citations}


def _mark(answer: AnswerView) -> str:
    return f"q{answer.id}-"


def versions(client: Client, run: Run) -> None:
    """Draw the versions, newest first. Older ones can be compared with the newest and restored."""
    stored = client.send(reports.versions(run.id)).items
    if len(stored) < 2:
        st.html(f'<p class="r-quiet">{text(say("versions.one"))}</p>')
        return
    newest = stored[0].n
    for version in stored:
        _version(client, run, version, newest)


def _version(client: Client, run: Run, version: VersionInfo, newest: int) -> None:
    with st.container(key=f"version_{version.n}", gap="xsmall"):
        name = f"{say('versions.n', n=version.n)} · {named('origin', version.origin)}"
        cost = f"<br>{text(spent(version.usage))}" if count_tokens(version.usage) else ""
        note = (f"<br>{text(version.note)}" if version.note else "") + cost
        st.html(f'<b>{text(name)}</b> <span class="r-quiet">{text(when(version.created_at, "short"))}{note}</span>')
        if version.n == newest:
            return
        with st.container(horizontal=True):
            if st.button(say("versions.diff"), key=f"diff_{version.n}"):
                st.dialog(say("versions.diff"), width="large")(show_diff)(client, run, version.n, newest)
            if st.button(say("versions.back"), key=f"back_{version.n}") and act(
                lambda: client.send(reports.revert(run.id, version.n, newest)), say("versions.done")
            ):
                st.rerun()


def spent(usage: Usage) -> str:
    """Return what a change cost, in words."""
    tokens = count_tokens(usage)
    return say("change.spent", tokens=compact(tokens), cost=money(usage.cost_microusd)) if tokens else say("change.free")


def show_diff(client: Client, run: Run, old: int, new: int) -> None:
    """Draw what changed from one version to the other."""
    st.html(diff_html(client.send(reports.diff(run.id, old, new))))


def diff_html(diff: ReportDiff) -> str:
    """Return the changed sections as HTML, with added and removed words marked."""
    marks = {"added": "ins", "removed": "del"}
    parts = []
    for section in diff.sections:
        if section.change == "same":
            continue
        words = "".join(
            f"<{marks[w.change]}>{text(w.text)}</{marks[w.change]}>" if w.change in marks else text(w.text) for w in section.words
        )
        parts.append(f'<h3>{text(section.heading or section.old_heading)}</h3><div class="r-diff">{words}</div>')
    return "".join(parts) or f'<p class="r-quiet">{text(say("versions.same"))}</p>'
