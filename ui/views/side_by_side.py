"""Systems side by side: one question, the same evidence, one rubric. Figures and scores are in a table, the reports below it."""

from datetime import UTC, datetime, timedelta

import streamlit as st

from rubrica_client import ApiError, reports, runs
from rubrica_client.models import SideBySideView
from ui.components import problem, run_header, safe_fragments, side_table, texts_side_by_side
from ui.components.markup import escape
from ui.components.page_title import name_page
from ui.facts import has_ended, is_finished, lacks_scores
from ui.language import say, say_name
from ui.report import PageReport
from ui.session import get_api, may, read_run_id

REFRESH = timedelta(seconds=3)


def main() -> None:
    """Show the runs that belong to the one in the address."""
    chosen = read_run_id()
    if not chosen:
        run_header.show_no_run()
        return
    try:
        view = get_api().send(runs.side_by_side(chosen))
    except ApiError as error:
        problem.show(error)
        return
    name_page(view.question, say("nav.side_by_side"))
    st.html(f'<h1 class="r-question">{escape(view.question)}</h1><p class="r-quiet">{escape(_make_lead(view))}</p>')
    if not all(has_ended(column) for column in view.columns):
        safe_fragments.make_fragment(_show_under_way, run_every=REFRESH)(chosen, _count_ended(view))
        return
    finished = _load_reports(view)
    st.html(side_table.table_html(view, finished, datetime.now(UTC)))
    _offer_scores(view, chosen)
    _show_texts(view, finished)


def _make_lead(view: SideBySideView) -> str:
    return say("beside.lead") + (say("beside.same_criteria") if view.rubric else "")


def _offer_scores(view: SideBySideView, chosen: str) -> None:
    """Draw a button that has reports without a score judged, all by the same criteria."""
    if not may("runs:write") or not any(lacks_scores(column) for column in view.columns):
        return
    with st.container(key="offer_scores", border=True):
        st.html(f"<p>{escape(say('beside.judge_help' if view.rubric else 'beside.no_rubric'))}</p>")
        for column in view.columns:
            if column.unjudged:
                st.caption(say("beside.unjudged", system=say_name("system", column.run.query.system), why=column.unjudged))
        if st.button(say("beside.judge"), key="judge", type="primary", icon=":material/rule:"):
            try:
                with st.spinner(say("beside.drafting")):
                    get_api().send(runs.judge_side_by_side(chosen))
            except ApiError as error:
                problem.show(error)
                return
            st.rerun()


def _show_under_way(chosen: str, ended: int) -> None:
    """Draw the table on each refresh. When all runs have ended, run the whole page again, which shows the reports."""
    view = get_api().send(runs.side_by_side(chosen))
    st.html(side_table.table_html(view, _load_reports(view), datetime.now(UTC)))
    for column in view.columns:
        if is_finished(column.run):
            continue
        label = say("beside.watch", system=say_name("system", column.run.query.system))
        st.page_link("views/watch.py", label=label, query_params={"run": column.run.id})
    if _count_ended(view) > ended and _count_ended(view) == len(view.columns):
        st.rerun()


def _count_ended(view: SideBySideView) -> int:
    return sum(has_ended(column) for column in view.columns)


def _load_reports(view: SideBySideView) -> dict[str, PageReport]:
    """Return the finished reports by run. A report that cannot be loaded does not hide the others."""
    return {c.run.id: report for c in view.columns if c.run.status == "completed" and (report := _load_report(c.run.id))}


def _load_report(run: str) -> PageReport | None:
    try:
        return PageReport.of(get_api().send(reports.get(run)))
    except ApiError as error:
        problem.show(error)
        return None


def _show_texts(view: SideBySideView, finished: dict[str, PageReport]) -> None:
    with st.container(key="sides"):
        columns = st.columns(len(view.columns), gap="medium", border=True)
    for number, (column, place) in enumerate(zip(view.columns, columns, strict=True)):
        with place:
            run = column.run
            st.html(f'<h2 class="r-label">{escape(say_name("system", run.query.system))}</h2>')
            if run.id in finished:
                st.page_link("views/read.py", label=say("beside.read"), query_params={"run": run.id})
                st.html(texts_side_by_side.prepare_html(finished[run.id], f"{number}-"))
            else:
                st.html(f'<div class="r-note">{escape(run.detail or say_name("status", run.status))}</div>')
    texts_side_by_side.open_sources({f"{n}-": finished[c.run.id] for n, c in enumerate(view.columns) if c.run.id in finished})


main()
