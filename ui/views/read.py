"""Read a report: the text, what it rests on beside it, and the exact words behind each number in a drawer."""

from collections.abc import Callable

import streamlit as st

from ui.api_client import ApiProblem
from ui.client import asking
from ui.client.asking import Scorecard
from ui.client.reports import Reports
from ui.components import after_reading, exports, opinion, problem, reader, repeat, run_header, source_view
from ui.components.claims_view import claims_html
from ui.components.markup import text
from ui.components.report_view import Article, article, outline_html, sources_html
from ui.components.scorecard_view import scorecard_html
from ui.language import current, say
from ui.models import Report, Run
from ui.session import api, run_id

MISSING = {"failed": "read.failed", "cancelled": "read.cancelled"}
PREPARED = 24  # reports kept ready to show, for all visitors together


def main() -> None:
    """The report of the run named in the address."""
    chosen = run_id()
    if not chosen:
        st.html(run_header.no_run_html())
        return
    try:
        run = api().run(chosen)
    except ApiProblem as error:
        problem.show(error)
        return
    if run.status == "completed":
        _report(run)
        return
    run_header.show(run, "views/read.py")
    st.html(f'<div class="r-note">{text(say(MISSING.get(run.status, "read.not_yet")))}</div>')


def _report(run: Run) -> None:
    try:
        report = api().report(run.id)
    except ApiProblem as error:
        run_header.show(run, "views/read.py")
        problem.show(error)
        return
    run_header.show(run, "views/read.py", report.title)
    _bar(run, report)
    left, right = st.columns([13, 6], gap="large")
    prepared = _prepared(report.model_dump_json(), current())
    with left:
        st.html(prepared.html)
    with right:
        _beside(run, report, prepared)
    _told(after_reading.follow_ups, run)
    _drawer(run, report)


def _told(part: Callable[[Reports, Run], None], run: Run) -> None:
    """A part of the page that asks the API more; its trouble is its own."""
    try:
        part(Reports(api()), run)
    except ApiProblem as error:
        problem.show(error)


def _bar(run: Run, report: Report) -> None:
    """What can be done with the report, on one line."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="report_bar"):
        with st.popover(say("read.export"), icon=":material/download:"):
            exports.show(api(), run)
        with st.popover(say("read.share"), icon=":material/link:"):
            after_reading.share(Reports(api()), run)
            _told(after_reading.links, run)
        with st.popover(say("read.compare"), icon=":material/compare_arrows:"):
            opinion.second_report(api(), run)
        with st.popover(say("read.repeat"), icon=":material/update:"):
            repeat.show(api(), run)
        with st.popover(say("read.wrong"), icon=":material/flag:"):
            opinion.wrong_claim(api(), run, report)
        st.fragment(opinion.stars)(api(), run)


@st.cache_data(max_entries=PREPARED, show_spinner=False)
def _prepared(report: str, language: str) -> Article:
    """The report as HTML. A long one takes a good part of a second to render, and every click on the page would wait for it."""
    return article(Report.model_validate_json(report))


def _beside(run: Run, report: Report, prepared: Article) -> None:
    card = _scorecard(run)
    labels = [
        say("read.contents"),
        say("read.sources"),
        say("read.checks"),
        say("read.versions"),
        *([say("read.score")] if card else []),
    ]
    contents, sources, checks, versions, *score = st.tabs(labels, key="beside")
    with contents:
        st.html(outline_html(prepared.outline))
    with sources:
        st.html(sources_html(report.citations))
    with checks:
        st.html(claims_html(report.claims) if report.claims else f'<p class="r-quiet">{text(say("read.no_checks"))}</p>')

    with versions:
        _told(after_reading.versions, run)
    if card and score:
        score[0].html(scorecard_html(card))


def _scorecard(run: Run) -> Scorecard | None:
    """How the report does by its rubric; None where it was asked without one."""
    try:
        return asking.scorecard(api(), run.id)
    except ApiProblem as error:
        if error.status != 404:
            problem.show(error)
        return None


@st.fragment
def _drawer(run: Run, report: Report) -> None:
    """Listens to the numbers in the text. What is open is in the address, so that a reload opens it again."""
    asked = reader.listen(reader.cards(report))
    if asked:
        st.query_params["cite"] = asked
    number = st.query_params.get("cite")
    if number:
        st.dialog(say("source.title"), width="medium", position="right", on_dismiss=_close)(_source)(run, report, number)


def _source(run: Run, report: Report, number: str) -> None:
    source_view.show(api(), report, number)
    st.page_link("views/source.py", label=say("source.own_page"), query_params={"run": run.id, "n": number})


def _close() -> None:
    st.query_params.pop("cite", None)


main()
