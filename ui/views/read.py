"""Read a report: the text, its sources beside it, and the exact quote behind each number."""

from functools import partial

import streamlit as st

from ui.api_client import ApiClient, ApiProblem
from ui.components import problem, run_header
from ui.components.claims_view import claims_html
from ui.components.report_view import article_html, cards_html, sources_html
from ui.models import Report, Run
from ui.session import api, run_id

NOT_YET = "The report is not written yet. Its making is shown under Progress."
MISSING = {
    "failed": "This run failed before it had a report. Progress says why.",
    "cancelled": "This run was cancelled and has no report.",
}


def main() -> None:
    """The report of the run named in the address."""
    chosen = run_id()
    if not chosen:
        st.html(run_header.NO_RUN)
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
    st.html(f'<div class="r-note">{MISSING.get(run.status, NOT_YET)}</div>')


def _report(run: Run) -> None:
    try:
        report = api().report(run.id)
    except ApiProblem as error:
        run_header.show(run, "views/read.py")
        problem.show(error)
        return
    run_header.show(run, "views/read.py", report.title)
    _show(api(), run, report)


def _show(client: ApiClient, run: Run, report: Report) -> None:
    left, right = st.columns([13, 6], gap="large")
    with left:
        st.html(article_html(report) + cards_html(report, run.id))
    with right:
        st.html('<div class="r-label">Download</div>')
        _downloads(client, run)
        if report.claims:
            st.html(f'<div class="r-label" style="margin:1rem 0 .7rem">Claims checked</div>{claims_html(report.claims)}')
        st.html(f'<div class="r-label" style="margin:1rem 0 .7rem">Sources</div>{sources_html(report.citations)}')


def _downloads(client: ApiClient, run: Run) -> None:
    files = (
        ("Markdown", "report", "md", "text/markdown", partial(client.report_file, run.id, "text/markdown")),
        ("HTML", "report", "html", "text/html", partial(client.report_file, run.id, "text/html")),
        ("JSON", "evidence", "json", "application/json", partial(client.evidence, run.id)),
    )
    with st.container(horizontal=True, gap="xsmall"):
        for label, name, ending, media_type, fetch in files:
            st.download_button(label, fetch, f"{name}-{run.id}.{ending}", media_type, key=ending, on_click="ignore")


main()
