"""Two reports side by side, without their origin: their texts, and one drawer for the numbers in both."""

from collections.abc import Mapping

import streamlit as st

from rubrica_client.models import CandidateView
from ui.components import click_listener, safe_fragments, source_view
from ui.components.markup import escape
from ui.components.report_view import make_article
from ui.language import get_language, say, say_name
from ui.report import PageReport
from ui.session import get_api

PREPARED = 48  # reports kept ready to show, for all visitors together


def show(left: CandidateView, right: CandidateView) -> None:
    """Draw both texts; each scrolls by itself if there is room."""
    reports = {"left": PageReport.of(left), "right": PageReport.of(right)}
    with st.container(key="sides"):
        columns = st.columns(2, gap="medium", border=True)
    for (side, report), column in zip(reports.items(), columns, strict=True):
        with column:
            st.html(f'<h2 class="r-label">{escape(say_name("side", side))}</h2>')
            st.html(prepare_html(report, f"{side}-"))
    open_sources({f"{side}-": report for side, report in reports.items()})


def prepare_html(report: PageReport, mark: str) -> str:
    """Return a report's text as HTML; `mark` goes before its names on the page."""
    return _prepare_html(report.model_dump_json(), mark, get_language())


@st.cache_data(max_entries=PREPARED, show_spinner=False)
def _prepare_html(report: str, mark: str, language: str) -> str:
    """Return the text as HTML. `language` is only part of the cache's key: the labels in the text are in this language."""
    return make_article(PageReport.model_validate_json(report), mark=mark).html


@safe_fragments.make_fragment
def open_sources(reports: Mapping[str, PageReport]) -> None:
    """Open the citation behind a number that is clicked in any of these texts, which are by the mark before their names."""
    citation = click_listener.listen(click_listener.merge_cards(reports)).citation
    if citation:
        mark, dash, number = citation.rpartition("-")
        st.dialog(say("source.title"), width="medium", position="right")(source_view.show)(
            get_api(), reports[mark + dash], number
        )
