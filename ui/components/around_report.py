"""The parts around a report's text: contents, sources, claims, score and questions beside it; figures and disagreements below."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from rubrica_client import ApiError, Client, asking, reports
from rubrica_client.models import Chart, Figure, FigurePage, Run, Scorecard
from ui.components import evidence_view, follow_ups, problem
from ui.components.claims_view import checked_claims_html
from ui.components.markup import escape
from ui.components.report_view import Article, cited_sources_html, outline_html
from ui.components.scorecard_view import scorecard_html
from ui.language import say
from ui.report import PageReport
from ui.session import ask_once, get_api

T = TypeVar("T")


def try_part(part: Callable[[Client, Run], T], run: Run) -> T | None:
    """Call a part of the page that asks the API. If it fails, show the error in its place, and keep the rest of the page."""
    try:
        return part(get_api(), run)
    except ApiError as error:
        problem.show(error)
        return None


def show_tabs(run: Run, report: PageReport, prepared: Article) -> dict[str, PageReport]:
    """Draw the tabs beside the text. Return the reports behind the numbers in the answers to further questions."""
    card = _load_scorecard(run)
    labels = [say("read.contents"), say("read.sources"), say("read.checks"), say("follow.title")]
    contents, sources, checks, questions, *score = st.tabs(labels + ([say("read.score")] if card else []), key="beside")
    with contents:
        st.html(outline_html(prepared.outline))
    with sources:
        st.html(cited_sources_html(report.citations))
    with checks:
        st.html(
            checked_claims_html(report.claims) if report.claims else f'<p class="r-quiet">{escape(say("read.no_checks"))}</p>'
        )
    if card and score:
        changed = f'<p class="r-quiet">{escape(say("score.delivered"))}</p>' if report.version > 1 else ""
        score[0].html(changed + scorecard_html(card))
    with questions:
        return follow_ups.index_citations(try_part(follow_ups.show, run) or ())


def _load_scorecard(run: Run) -> Scorecard | None:
    """Return the report's scorecard; None if the run has no rubric."""
    try:
        return get_api().send(asking.scorecard(run.id))
    except ApiError as error:
        if error.status != 404:
            problem.show(error)
        return None


def load_figures(client: Client, run: Run, version: int) -> FigurePage:
    """Return the numbers that the report's sources give, with their charts."""
    return ask_once("figures", (run.id, version), lambda: client.send(reports.figures(run.id)))


def show_findings(client: Client, run: Run, version: int, figures: Sequence[Figure], charts: Sequence[Chart]) -> None:
    """Draw disagreements, and the figures with those charts that stand nowhere in the text, folded."""
    disputes = ask_once("disputes", (run.id, version), lambda: client.send(reports.contradictions(run.id)).items)
    if disputes:
        with st.expander(say("disputes.title", n=len(disputes)), icon=":material/call_split:", key="disputes"):
            st.html(evidence_view.disagreements_html(disputes))
    if figures:
        with st.expander(say("figures.title", n=len(figures)), icon=":material/bar_chart:", key="figures"):
            st.html(evidence_view.figures_html(figures, charts))
