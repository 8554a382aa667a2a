"""A reader's opinion of a report: stars, a wrong claim, and a second report for comparison."""

import streamlit as st

from rubrica_client import ApiError, Client, preferences
from rubrica_client.models import ComparisonStatus, NewFlag, NewRating, Run, WayView
from ui.components import problem
from ui.components.claims_view import is_doubtful, list_claims
from ui.components.controls import send_command
from ui.components.markup import escape
from ui.language import say, say_name
from ui.navigation import open_page
from ui.report import PageReport
from ui.session import may

LONGEST_CLAIM = 110


def show_stars(client: Client, run: Run) -> None:
    """Draw one to five stars, and send them when they are given."""
    choice = st.feedback("stars", key=f"stars_{run.id}")
    sent_key = f"stars_sent_{run.id}"
    if (
        choice is not None
        and st.session_state.get(sent_key) != choice
        and send_command(lambda: client.send(preferences.rate(run.id, _make_rating(choice + 1))), say("read.rated"))
    ):
        st.session_state[sent_key] = choice


def _make_rating(stars: int) -> NewRating:
    """Return a rating of the report that the run delivered, not of a version that readers have changed."""
    return NewRating(stars=stars, comment="", version=1)


def link_waiting(client: Client, run: Run) -> None:
    """Link the newest comparison of this report while it waits for the visitor's choice: nobody else tells of a canary's."""
    if not may("preferences:write"):
        return
    for item in client.send(preferences.comparisons(run_id=run.id, limit=1)).items:
        if not item.chosen and item.status in (ComparisonStatus.PREPARING, ComparisonStatus.READY):
            st.page_link(
                "views/compare.py",
                label=say("compare.waits"),
                icon=":material/compare_arrows:",
                query_params={"id": item.id},
            )


def show_second_report_form(client: Client, run: Run, report: PageReport) -> None:
    """Draw the form that has another report written over the same evidence, then go to the comparison.

    The form says beforehand what another order of quotations can change, and that nothing can differ if nothing was quoted.
    """
    st.caption(say("compare.ask_help"))
    try:
        ways = client.send(preferences.ways()).items
    except ApiError as error:
        problem.show(error)
        return
    quoting = all(way.writer.agents == "brief" for way in ways)
    if quoting and not report.citations:
        st.html(f'<div class="r-note" role="status">{escape(say("compare.nothing_quoted"))}</div>')
        return
    if quoting:
        st.caption(say("compare.by_quoting"))
    chosen = st.selectbox(say("compare.way"), range(len(ways)), format_func=lambda n: label_way(ways[n]), key="compare_way")
    why = None if ways else say("compare.no_way")
    if st.button(say("compare.ask"), key="compare", type="primary", disabled=chosen is None, help=why):
        try:
            made = client.send(preferences.compare(run.id, ways[chosen or 0].writer))
        except ApiError as error:
            problem.show(error)
            return
        open_page("views/compare.py", id=made.id)


def label_way(way: WayView) -> str:
    """Return the reader's name for a way of writing; the API's name if this page does not know it."""
    writer = way.writer
    if writer.model:
        return say("way.model", model=writer.model)
    if writer.temperature is not None:
        return say("way.freer")
    return say_name("way", writer.arrangement) if writer.agents == "brief" else way.name


def show_flag_form(client: Client, run: Run, report: PageReport) -> None:
    """Draw the form that reports a wrong claim and why it is wrong."""
    if not report.claims:
        st.caption(say("read.no_checks"))
        return
    listed = dict(sorted(list_claims(report.claims), key=lambda item: not is_doubtful(item[1])))
    with st.form("flag", clear_on_submit=True, border=False):
        number = st.selectbox(
            say("read.which_claim"), list(listed), None, lambda n: listed[n].text[:LONGEST_CLAIM], key="flag_claim"
        )
        reason = st.text_area(say("read.why_wrong"), height=68, max_chars=4_000, key="flag_reason")
        sent = st.form_submit_button(say("read.flag"), key="flag_send")
    if sent and number is not None and (reason or "").strip():
        wrong = NewFlag(reason=(reason or "").strip(), version=report.version)
        send_command(lambda: client.send(preferences.flag(run.id, number, wrong)), say("read.flagged"))
