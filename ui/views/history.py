"""All runs, newest first."""

import streamlit as st

from rubrica_client import ApiError, runs
from rubrica_client.models import Run
from ui.components import icon_button, problem
from ui.components.controls import send_command
from ui.components.markup import escape
from ui.components.run_list import show_run_rows
from ui.facts import is_allowed, is_finished
from ui.language import say
from ui.session import forget_run, get_api, get_me

PAGE_LENGTH = 20
DELETING = "deleting_run"


def main() -> None:
    """Show one page of runs; the address says where the page begins."""
    st.html(f'<div class="r-hero"><h1>{escape(say("history.title"))}</h1></div>')
    words = st.text_input(
        say("history.search"), key="q", bind="query-params", icon=":material/search:", max_chars=200, type="search",
        label_visibility="collapsed", placeholder=say("history.search"),
    )  # fmt: skip
    words = (words or "").strip()
    try:
        page = get_api().send(runs.list_(limit=PAGE_LENGTH, before=st.query_params.get("before"), words=words))
    except ApiError as error:
        problem.show(error)
        return
    if not page.items:
        st.html(f'<p class="r-lead">{escape(say("history.nothing", words=words) if words else say("history.empty"))}</p>')
        if not words:
            st.page_link("views/ask.py", label=say("ask.title"), icon=":material/edit:")
    who = get_me()
    show_run_rows(page.items, _offer_delete if who is None or is_allowed(who, "runs:write") else None)
    if page.next:
        icon = ":material/arrow_downward:"
        st.page_link(
            "views/history.py",
            label=say("history.older"),
            icon=icon,
            query_params={"before": page.next} | ({"q": words} if words else {}),
        )


def _offer_delete(run: Run) -> None:
    """Draw a button that deletes a finished run after a confirmation."""
    if is_finished(run) and icon_button.show(say("history.delete"), ":material/delete:", f"delete_{run.id}"):
        st.session_state[DELETING] = run.id
    if st.session_state.get(DELETING) == run.id:
        st.dialog(say("history.delete"), on_dismiss=_dismiss)(_confirm_delete)(run)


def _dismiss() -> None:
    st.session_state.pop(DELETING, None)


def _confirm_delete(run: Run) -> None:
    st.html(f'<p class="r-question small">{escape(run.query.question)}</p>')
    st.markdown(say("history.delete_help"))
    sure = st.button(say("shelf.delete_yes"), key="delete_run", type="primary")
    if sure and send_command(lambda: get_api().send(runs.delete(run.id)), say("shelf.deleted")):
        _dismiss()
        forget_run(run.id)
        st.rerun()


main()
