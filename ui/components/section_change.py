"""Changes to one section of a finished report, or to one sentence of it: rewrite, deepen, edit, flag; then the result."""

from collections.abc import Mapping
from datetime import timedelta

import streamlit as st

from rubrica_client import ApiError, Client, preferences, reports
from rubrica_client.models import ChangeView, Edit, NewFlag, Run, SectionView
from ui.components import problem, safe_fragments, versions
from ui.components.claims_view import list_claims
from ui.components.controls import send_command
from ui.components.markup import escape
from ui.language import say, say_name
from ui.report import PageReport
from ui.session import has_model, may

HOW = ("rewrite", "deepen", "edit")
FLAG = "flag"
MOST_WISH = 2_000
LONGEST_SENTENCE = 400
MADE = {"rewrite": "rewritten", "deepen": "deepened", "edit": "edited"}
REFRESH = timedelta(seconds=1.5)
UNDER_WAY = ("queued", "running")


def show_form(client: Client, run: Run, report: PageReport, number: int, section: SectionView) -> None:
    """Draw the form in a dialog. It sends the version that was read, so that nobody's change is overwritten.

    A page of Streamlit does not know what a reader selects in a text, so a sentence is chosen from those of the section.
    """
    version = report.version
    sentences = {n: claim.text for n, claim in list_claims(report.claims) if claim.section == section.heading}
    ways = (*HOW, FLAG) if sentences and may("preferences:write") else HOW
    st.html(f'<h2 class="r-question">{escape(section.heading)}</h2>')
    how = st.segmented_control(
        say("change.how"), ways, default="rewrite", required=True, format_func=lambda v: say_name("change", v), key="change_how"
    )
    st.caption(say(f"change.{how or 'rewrite'}_help"))
    heeds = has_model()  # without one, a section is quoted anew, whatever is wished
    chosen = _choose_sentence(sentences) if sentences and (how == FLAG or (how != "edit" and heeds)) else None
    if how == FLAG:
        _show_flag(client, run, version, chosen)
        return
    if how == "edit":
        heading = st.text_input(say("change.heading"), section.heading, 300, key=f"change_heading_{version}_{number}")
        words = st.text_area(say("change.words"), section.markdown, 320, 60_000, key=f"change_words_{version}_{number}")
    elif heeds:
        wish = st.text_area(
            say("change.wish"), height=90, max_chars=MOST_WISH, key="change_wish", placeholder=say("change.wish_hint")
        )
    else:
        wish = ""
    if not st.button(say("change.go"), key="change_go", type="primary"):
        return
    try:
        if how == "edit":
            client.send(reports.edit(run.id, number, Edit(heading=heading or "", markdown=words or ""), version))
        else:
            asked = _word_wish(wish or "", sentences.get(chosen, "") if chosen is not None else "")
            client.send(reports.rewrite(run.id, number, how or "rewrite", asked, version))
    except ApiError as error:
        problem.show(error)
        return
    st.rerun()


def _choose_sentence(sentences: Mapping[int, str]) -> int | None:
    return st.selectbox(
        say("change.sentence"),
        list(sentences),
        None,
        lambda n: sentences[n],
        key="change_sentence",
        placeholder=say("change.whole_section"),
    )


def _word_wish(wish: str, sentence: str) -> str:
    """Return the wish, which is about one sentence where one was chosen."""
    about = say("change.only", sentence=sentence[:LONGEST_SENTENCE]) if sentence else ""
    return f"{about} {wish}".strip()[:MOST_WISH]


def _show_flag(client: Client, run: Run, version: int, chosen: int | None) -> None:
    """Draw the rest of the form that says that the chosen sentence is wrong."""
    reason = st.text_area(say("read.why_wrong"), height=90, max_chars=4_000, key="change_flag_reason")
    missing = chosen is None or not (reason or "").strip()
    why = say("change.flag_first") if missing else None
    if st.button(say("read.flag"), key="change_flag", type="primary", disabled=missing, help=why) and chosen is not None:
        wrong = NewFlag(reason=(reason or "").strip(), version=version)
        send_command(lambda: client.send(preferences.flag(run.id, chosen, wrong)), say("read.flagged"))


def show_latest(client: Client, run: Run, version: int) -> None:
    """Draw the latest change above the report: that it is under way, that it failed, or its result and its cost."""
    task = next(iter(client.send(reports.changes(run.id, limit=1)).items), None)
    if task is None:
        return
    if task.status in UNDER_WAY:
        safe_fragments.make_fragment(_wait_for_change, run_every=REFRESH)(client, run, task.id)
    elif task.status == "failed" and task.base == version:
        st.html(
            f'<div class="r-note bad" role="alert"><strong>{escape(say("change.failed"))}</strong>{escape(task.detail)}</div>'
        )
    elif task.version == version:
        _show_result(client, run, task, version)
    elif task.version is not None and task.version > version:
        st.rerun()  # the change was made after this page loaded the report


def _wait_for_change(client: Client, run: Run, task: str) -> None:
    if client.send(reports.change(run.id, task)).status in UNDER_WAY:
        st.html(f'<div class="r-note" role="status">{escape(say("change.under_way"))}</div>')
    else:
        st.rerun()


def _show_result(client: Client, run: Run, task: ChangeView, version: int) -> None:
    line = say("change.done", n=version, how=say_name("origin", MADE.get(task.how, task.how)))
    with st.container(horizontal=True, vertical_alignment="center", key="change_done"):
        cost = escape(versions.describe_cost(task.usage))
        st.html(f'<div role="status"><b>{escape(line)}</b> <span class="r-quiet">{cost}</span></div>')
        if st.button(say("change.see"), key="change_see"):
            st.dialog(say("change.see"), width="large")(versions.show_diff)(client, run, task.base, version)
        if (
            may("reports:write")
            and st.button(say("change.undo"), key="change_undo", icon=":material/undo:")
            and send_command(lambda: client.send(reports.revert(run.id, task.base, version)), say("change.undone"))
        ):
            st.rerun()
