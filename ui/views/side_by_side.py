"""Systems side by side: one question, the same evidence, one rubric; figures and scores in a table, the reports beneath."""

from datetime import UTC, datetime, timedelta

import streamlit as st

from rubrica_client import ApiError, reports, runs
from rubrica_client.models import SideBySideView
from ui.components import problem, reader, run_header, side_table, source_view
from ui.components.markup import text
from ui.components.report_view import article
from ui.facts import has_ended, is_finished, lacks_scores
from ui.language import current, named, say
from ui.report import Report
from ui.session import api, run_id

REFRESH = timedelta(seconds=3)
PREPARED = 24


def main() -> None:
    """The runs beside the one named in the address."""
    chosen = run_id()
    if not chosen:
        run_header.no_run()
        return
    try:
        shown = api().send(runs.side_by_side(chosen))
    except ApiError as error:
        problem.show(error)
        return
    st.html(f'<h1 class="r-question">{text(shown.question)}</h1><p class="r-quiet">{text(_lead(shown))}</p>')
    if not all(has_ended(column) for column in shown.columns):
        st.fragment(_under_way, run_every=REFRESH)(chosen, _ended(shown))
        return
    reports = _reports(shown)
    st.html(side_table.table_html(shown, reports, datetime.now(UTC)))
    _offer_scores(shown, chosen)
    _texts(shown, reports)


def _lead(shown: SideBySideView) -> str:
    return say("beside.lead") + (say("beside.same_criteria") if shown.rubric else "")


def _offer_scores(shown: SideBySideView, chosen: str) -> None:
    """Reports that were asked without criteria can be judged afterwards, all by the same ones."""
    if not any(lacks_scores(column) for column in shown.columns):
        return
    with st.container(key="offer_scores", border=True):
        st.html(f"<p>{text(say('beside.judge_help' if shown.rubric else 'beside.no_rubric'))}</p>")
        for column in shown.columns:
            if column.unjudged:
                st.caption(say("beside.unjudged", system=named("system", column.run.query.system), why=column.unjudged))
        if st.button(say("beside.judge"), key="judge", type="primary", icon=":material/rule:"):
            try:
                with st.spinner(say("beside.drafting")):
                    api().send(runs.judge_side_by_side(chosen))
            except ApiError as error:
                problem.show(error)
                return
            st.rerun()


def _under_way(chosen: str, ended: int) -> None:
    """The table, again and again; the reports come with the whole page, once all have ended."""
    shown = api().send(runs.side_by_side(chosen))
    st.html(side_table.table_html(shown, _reports(shown), datetime.now(UTC)))
    for column in shown.columns:
        if is_finished(column.run):
            continue
        label = say("beside.watch", system=named("system", column.run.query.system))
        st.page_link("views/watch.py", label=label, query_params={"run": column.run.id})
    if _ended(shown) > ended and _ended(shown) == len(shown.columns):
        st.rerun()


def _ended(shown: SideBySideView) -> int:
    return sum(has_ended(column) for column in shown.columns)


def _reports(shown: SideBySideView) -> dict[str, Report]:
    """The finished reports by run; what one system could not write is no reason to hide the others."""
    return {c.run.id: report for c in shown.columns if c.run.status == "completed" and (report := _report(c.run.id))}


def _report(run: str) -> Report | None:
    try:
        return Report.of(api().send(reports.get(run)))
    except ApiError as error:
        problem.show(error)
        return None


def _texts(shown: SideBySideView, reports: dict[str, Report]) -> None:
    with st.container(key="sides"):
        columns = st.columns(len(shown.columns), gap="medium", border=True)
    for number, (column, place) in enumerate(zip(shown.columns, columns, strict=True)):
        with place:
            run = column.run
            st.html(f'<h2 class="r-label">{text(named("system", run.query.system))}</h2>')
            if run.id in reports:
                st.page_link("views/read.py", label=say("beside.read"), query_params={"run": run.id})
                st.html(_prepared(reports[run.id].model_dump_json(), f"{number}-", current()))
            else:
                st.html(f'<div class="r-note">{text(run.detail or named("status", run.status))}</div>')
    _drawer({f"{n}-": reports[c.run.id] for n, c in enumerate(shown.columns) if c.run.id in reports})


@st.cache_data(max_entries=PREPARED, show_spinner=False)
def _prepared(report: str, mark: str, language: str) -> str:
    return article(Report.model_validate_json(report), mark=mark).html


@st.fragment
def _drawer(reports: dict[str, Report]) -> None:
    """Listens to the numbers in all texts."""
    asked = reader.listen(reader.of_all(reports)).citation
    if asked:
        mark, _, number = asked.partition("-")
        st.dialog(say("source.title"), width="medium", position="right")(source_view.show)(api(), reports[f"{mark}-"], number)


main()
