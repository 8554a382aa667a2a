"""All runs, newest first."""

from collections.abc import Mapping

import streamlit as st

from rubrica_client import ApiError, runs
from rubrica_client.models import Run, RunPhase
from ui.components import icon_button, list_filters, problem
from ui.components.controls import send_command
from ui.components.markup import escape
from ui.components.run_list import show_run_rows
from ui.facts import is_finished
from ui.language import say, say_name
from ui.session import forget_run, get_api, get_me, is_own_machine, may, read_query

PAGE_LENGTH = 20
DELETING = "deleting_run"
FILTERS = ("phase", "since", "until", "own")


def main() -> None:
    """Show one page of runs; the address says where the page begins."""
    st.html(f'<div class="r-hero"><h1>{escape(say("history.title"))}</h1></div>')
    words = st.text_input(
        say("history.search"), key="q", bind="query-params", icon=":material/search:", max_chars=200, type="search",
        label_visibility="collapsed", placeholder=say("history.search"), on_change=_begin_anew,
    )  # fmt: skip
    words = (words or "").strip()
    try:
        wanted = _ask_filters()
        page = get_api().send(
            runs.list_(
                limit=PAGE_LENGTH,
                before=read_query("before"),
                words=words,
                phase=wanted.get("phase"),
                since=wanted.get("since"),
                until=wanted.get("until"),
                own="own" in wanted,
            )
        )
    except ApiError as error:
        problem.show(error)
        return
    if not page.items:
        st.html(f'<p class="r-lead">{escape(_describe_nothing(words, wanted))}</p>')
        if not words and not wanted:
            st.page_link("views/ask.py", label=say("ask.title"), icon=":material/edit:")
    show_run_rows(page.items, _offer_delete if may("runs:write") else None)
    if page.next:
        icon = ":material/arrow_downward:"
        st.page_link(
            "views/history.py",
            label=say("history.older"),
            icon=icon,
            query_params={"before": page.next} | wanted | ({"q": words} if words else {}),
        )


def _ask_filters() -> dict[str, str]:
    """Draw the filters, and return their values, which are in the address too. Who is alone here is not asked whose runs."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="filters"):
        list_filters.show_choice(
            "history", "phase", say("history.phase"), tuple(RunPhase), lambda phase: say_name("phase", phase), 200
        )
        list_filters.show_day("history", "since", say("history.since"))
        list_filters.show_day("history", "until", say("history.until"))
        if get_me() and not is_own_machine():
            list_filters.show_switch("history", "own", say("history.own"))
    return {name: value for name in FILTERS if (value := read_query(name))}


def _describe_nothing(words: str, wanted: Mapping[str, str]) -> str:
    if wanted:
        return say("history.nothing_fits")
    return say("history.nothing", words=words) if words else say("history.empty")


def _begin_anew() -> None:
    """Begin the list at its newest run again, because other words are looked for."""
    st.query_params.pop("before", None)


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
