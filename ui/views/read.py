"""The page of a report: the text, its evidence beside it, and a drawer with the exact words behind each number."""

from collections.abc import Mapping, Sequence

import streamlit as st

from rubrica_client import ApiError, reports, runs
from rubrica_client.models import Run, SectionView
from ui.components import (
    around_report,
    click_listener,
    done_notice,
    exports,
    feedback,
    live_report,
    problem,
    repeat,
    run_header,
    safe_fragments,
    section_change,
    sharing,
    source_view,
    system_choice,
    versions,
)
from ui.components.charts_in_text import place_charts
from ui.components.page_title import name_page
from ui.components.report_view import Article, folded_outline_html, make_article
from ui.language import get_language, say
from ui.report import PageReport
from ui.session import ask_once, get_api, may, read_run_id
from ui.watching import forget_unfinished

CLOSED = "closed_citation"
PREPARED = 24  # reports kept ready to show, for all visitors together


def main() -> None:
    """Show the report of the run in the address."""
    chosen = read_run_id()
    if not chosen:
        run_header.show_no_run()
        return
    try:
        run = get_api().send(runs.get(chosen))
    except ApiError as error:
        problem.show(error)
        return
    name_page(run.query.question, say("nav.read"))
    if run.status == "completed":
        _show_report(run)
        return
    live_report.show(run)


def _show_report(run: Run) -> None:
    forget_unfinished()
    try:
        report = PageReport.of(get_api().send(reports.get(run.id)))
    except ApiError as error:
        run_header.show(run, "views/read.py")
        problem.show(error)
        return
    name_page(report.title or run.query.question, say("nav.read"))
    run_header.show(run, "views/read.py", report.title)
    _show_actions(run, report)
    around_report.try_part(feedback.link_waiting, run)
    around_report.try_part(lambda client, asked: section_change.show_latest(client, asked, report.version), run)
    left, right = st.columns([13, 6], gap="large")
    sections = _load_sections(run, report)
    prepared = _prepare(report.model_dump_json(), tuple(section.heading for section in sections), get_language())
    with left:
        found = around_report.try_part(lambda client, asked: around_report.load_figures(client, asked, report.version), run)
        figures, charts = (found.items, found.charts) if found else ((), ())
        text_html, left_over = place_charts(prepared.html, charts)
        st.html(folded_outline_html(prepared.outline) + text_html)
        around_report.try_part(
            lambda client, asked: around_report.show_findings(client, asked, report.version, figures, left_over), run
        )
    with right:
        answers = around_report.show_tabs(run, report, prepared)
    done_notice.offer(run)
    _open_drawer(run, {"": report, **answers}, sections)


def _load_sections(run: Run, report: PageReport) -> Sequence[SectionView]:
    """Return the sections that the visitor may change; none if the visitor may change nothing."""
    if not may("reports:write"):
        return ()
    try:
        return ask_once(
            "sections", (run.id, report.version), lambda: get_api().send(reports.version(run.id, report.version)).sections
        )
    except ApiError as error:
        problem.show(error)
        return ()


def _show_actions(run: Run, report: PageReport) -> None:
    """Draw the actions on the report, on one line."""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="report_bar"):
        with st.popover(say("read.export"), icon=":material/download:"):
            exports.show(get_api(), run, report.title or run.query.question)
        if may("reports:write"):
            with st.popover(say("read.share"), icon=":material/link:"):
                sharing.show_form(get_api(), run)
                around_report.try_part(sharing.show_links, run)
        with st.popover(say("read.more"), icon=":material/more_horiz:"):
            _show_more(run, report)


def _show_more(run: Run, report: PageReport) -> None:
    """Draw what is done less often, each folded, and nothing that the visitor may not do or that is not there."""
    judges = may("preferences:write")
    if judges:
        with st.expander(say("read.compare"), icon=":material/compare_arrows:", key="more_compare"):
            feedback.show_second_report_form(get_api(), run, report)
    if may("runs:write") and len(system_choice.list_systems()) > 1:
        with st.expander(say("beside.title"), icon=":material/view_column:", key="more_systems"):
            system_choice.show_further(get_api(), run)
    if may("schedules:write"):
        with st.expander(say("read.repeat"), icon=":material/update:", key="more_repeat"):
            repeat.show(get_api(), run)
    with st.expander(say("read.versions"), icon=":material/history:", key="more_versions"):
        around_report.try_part(versions.show, run)
    if judges:
        with st.expander(say("read.wrong"), icon=":material/flag:", key="more_wrong"):
            feedback.show_flag_form(get_api(), run, report)
    if judges and report.version == 1:  # stars are for what the run delivered, not for what readers made of it
        safe_fragments.make_fragment(feedback.show_stars)(get_api(), run)


@st.cache_data(max_entries=PREPARED, show_spinner=False)
def _prepare(report: str, sections: tuple[str, ...], language: str) -> Article:
    """Return the report as HTML. Without the cache every click would wait for it, most of a second for a long report."""
    return make_article(PageReport.model_validate_json(report), sections=sections)


@safe_fragments.make_fragment
def _open_drawer(run: Run, texts: Mapping[str, PageReport], sections: Sequence[SectionView]) -> None:
    """Open the citation behind a clicked number, or the form that changes a section.

    The open citation is in the address, so that a reload opens it again. A browser that has not yet heard that it was closed
    still sends the address with it.
    """
    report = texts[""]
    clicked = click_listener.listen(click_listener.merge_cards(texts))
    if clicked.citation:
        st.query_params["cite"] = clicked.citation
        st.session_state.pop(CLOSED, None)
    elif st.query_params.get("cite") == st.session_state.get(CLOSED, ""):
        st.query_params.pop("cite", None)
    mark, dash, number = st.query_params.get("cite", "").rpartition("-")
    if clicked.section is not None and clicked.section < len(sections):
        form = st.dialog(say("change.title"), width="large")(section_change.show_form)
        form(get_api(), run, report, clicked.section, sections[clicked.section])
    elif number and mark + dash in texts:
        drawer = st.dialog(say("source.title"), width="medium", position="right", on_dismiss=_close_source)(_show_source)
        drawer(run, texts[mark + dash], number, of_report=not mark)


def _show_source(run: Run, report: PageReport, number: str, *, of_report: bool) -> None:
    source_view.show(get_api(), report, number)
    if of_report:
        st.page_link("views/source.py", label=say("source.own_page"), query_params={"run": run.id, "n": number})


def _close_source() -> None:
    st.session_state[CLOSED] = st.query_params.pop("cite", "")


main()
