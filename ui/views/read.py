"""The page of a report: the text, its evidence beside it, and a drawer with the exact words behind each number."""

from collections.abc import Mapping, Sequence

import streamlit as st

from rubrica_client import ApiError, reports, runs
from rubrica_client.models import Run, SectionView
from ui.components import (
    beside_report,
    exports,
    opinion,
    problem,
    reader,
    repeat,
    run_header,
    section_change,
    sharing,
    source_view,
    systems,
    versions,
)
from ui.components.markup import text
from ui.components.report_view import Article, article
from ui.facts import may
from ui.language import current, say
from ui.report import Report
from ui.session import api, me, once, run_id

MISSING = {"failed": "read.failed", "cancelled": "read.cancelled"}
PREPARED = 24  # reports kept ready to show, for all visitors together


def main() -> None:
    """Show the report of the run in the address."""
    chosen = run_id()
    if not chosen:
        run_header.no_run()
        return
    try:
        run = api().send(runs.get(chosen))
    except ApiError as error:
        problem.show(error)
        return
    if run.status == "completed":
        _report(run)
        return
    run_header.show(run, "views/read.py")
    st.html(f'<div class="r-note">{text(say(MISSING.get(run.status, "read.not_yet")))}</div>')


def _report(run: Run) -> None:
    try:
        report = Report.of(api().send(reports.get(run.id)))
    except ApiError as error:
        run_header.show(run, "views/read.py")
        problem.show(error)
        return
    run_header.show(run, "views/read.py", report.title)
    _bar(run, report)
    beside_report.told(lambda client, asked: section_change.latest(client, asked, report.version), run)
    left, right = st.columns([13, 6], gap="large")
    sections = _sections(run, report)
    prepared = _prepared(report.model_dump_json(), tuple(section.heading for section in sections), current())
    with left:
        st.html(prepared.html)
        answers = beside_report.below(run, report)
    with right:
        beside_report.tabs(run, report, prepared)
    _drawer(run, {"": report, **answers}, sections)


def _sections(run: Run, report: Report) -> Sequence[SectionView]:
    """Return the sections that the visitor may change; none if the visitor may change nothing."""
    who = me()
    if who and not may(who, "reports:write"):
        return ()
    try:
        return once("sections", (run.id, report.version), lambda: api().send(reports.version(run.id, report.version)).sections)
    except ApiError as error:
        problem.show(error)
        return ()


def _bar(run: Run, report: Report) -> None:
    """Draw the actions on the report, on one line."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="report_bar"):
        with st.popover(say("read.export"), icon=":material/download:"):
            exports.show(api(), run, report.title or run.query.question)
        with st.popover(say("read.share"), icon=":material/link:"):
            sharing.share(api(), run)
            beside_report.told(sharing.links, run)
        with st.popover(say("read.compare"), icon=":material/compare_arrows:"):
            opinion.second_report(api(), run, report)
        with st.popover(say("beside.title"), icon=":material/view_column:"):
            systems.further(api(), run)
        with st.popover(say("read.repeat"), icon=":material/update:"):
            repeat.show(api(), run)
        with st.popover(say("read.versions"), icon=":material/history:"):
            beside_report.told(versions.versions, run)
        with st.popover(say("read.wrong"), icon=":material/flag:"):
            opinion.wrong_claim(api(), run, report)
        if report.version == 1:  # stars are for what the run delivered, not for what readers made of it
            st.fragment(opinion.stars)(api(), run)


@st.cache_data(max_entries=PREPARED, show_spinner=False)
def _prepared(report: str, sections: tuple[str, ...], language: str) -> Article:
    """Return the report as HTML. Without the cache every click would wait for it, most of a second for a long report."""
    return article(Report.model_validate_json(report), sections=sections)


@st.fragment
def _drawer(run: Run, texts: Mapping[str, Report], sections: Sequence[SectionView]) -> None:
    """Open the citation behind a clicked number, or the form that changes a section.

    The open citation is in the address, so that a reload opens it again.
    """
    report = texts[""]
    clicked = reader.listen(reader.of_all(texts))
    if clicked.citation:
        st.query_params["cite"] = clicked.citation
    mark, dash, number = st.query_params.get("cite", "").rpartition("-")
    if clicked.section is not None and clicked.section < len(sections):
        form = st.dialog(say("change.title"), width="large")(section_change.ask)
        form(api(), run, report.version, clicked.section, sections[clicked.section])
    elif number and mark + dash in texts:
        drawer = st.dialog(say("source.title"), width="medium", position="right", on_dismiss=_close)(_source)
        drawer(run, texts[mark + dash], number, of_report=not mark)


def _source(run: Run, report: Report, number: str, *, of_report: bool) -> None:
    source_view.show(api(), report, number)
    if of_report:
        st.page_link("views/source.py", label=say("source.own_page"), query_params={"run": run.id, "n": number})


def _close() -> None:
    st.query_params.pop("cite", None)


main()
