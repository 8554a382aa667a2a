"""Changes to one section of a finished report: rewrite it, deepen it, or edit it; then the result."""

from datetime import timedelta

import streamlit as st

from rubrica_client import ApiError, Client, reports
from rubrica_client.models import ChangeView, Edit, Run, SectionView
from ui.components import problem, safe_fragments, versions
from ui.components.controls import send_command
from ui.components.markup import escape
from ui.language import say, say_name
from ui.session import may

HOW = ("rewrite", "deepen", "edit")
MADE = {"rewrite": "rewritten", "deepen": "deepened", "edit": "edited"}
REFRESH = timedelta(seconds=1.5)
UNDER_WAY = ("queued", "running")


def show_form(client: Client, run: Run, version: int, number: int, section: SectionView) -> None:
    """Draw the form in a dialog. It sends the version that was read, so that nobody's change is overwritten."""
    st.html(f'<h2 class="r-question">{escape(section.heading)}</h2>')
    how = st.segmented_control(
        say("change.how"), HOW, default="rewrite", required=True, format_func=lambda v: say_name("change", v), key="change_how"
    )
    st.caption(say(f"change.{how or 'rewrite'}_help"))
    if how == "edit":
        heading = st.text_input(say("change.heading"), section.heading, 300, key=f"change_heading_{version}_{number}")
        words = st.text_area(say("change.words"), section.markdown, 320, 60_000, key=f"change_words_{version}_{number}")
    else:
        wish = st.text_area(
            say("change.wish"), height=90, max_chars=2_000, key="change_wish", placeholder=say("change.wish_hint")
        )
    if not st.button(say("change.go"), key="change_go", type="primary"):
        return
    try:
        if how == "edit":
            client.send(reports.edit(run.id, number, Edit(heading=heading or "", markdown=words or ""), version))
        else:
            client.send(reports.rewrite(run.id, number, how or "rewrite", wish or "", version))
    except ApiError as error:
        problem.show(error)
        return
    st.rerun()


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
