"""Two reports side by side, blind: their texts, and one drawer for the numbers in both."""

import streamlit as st

from rubrica_client.models import CandidateView
from ui.components import reader, source_view
from ui.components.markup import text
from ui.components.report_view import article
from ui.language import current, named, say
from ui.report import Report
from ui.session import api

SIDES = ("left", "right")
PREPARED = 24


def show(left: CandidateView, right: CandidateView) -> None:
    """Both texts; each scrolls by itself where there is room."""
    candidates = {"left": left, "right": right}
    with st.container(key="sides"):
        columns = st.columns(2, gap="medium", border=True)
    for side, column in zip(SIDES, columns, strict=True):
        with column:
            st.html(f'<h2 class="r-label">{text(named("side", side))}</h2>')
            st.html(_prepared(_report(candidates[side]).model_dump_json(), side, current()))
    _drawer({side: _report(candidate) for side, candidate in candidates.items()})


def _report(candidate: CandidateView) -> Report:
    return Report.of(candidate)


@st.cache_data(max_entries=PREPARED, show_spinner=False)
def _prepared(report: str, side: str, language: str) -> str:
    return article(Report.model_validate_json(report), mark=f"{side}-").html


@st.fragment
def _drawer(reports: dict[str, Report]) -> None:
    """Listens to the numbers in both texts."""
    left, right = (reader.cards(reports[side], f"{side}-") for side in SIDES)
    asked = reader.listen({kind: left[kind] | right[kind] for kind in left}).citation
    if asked:
        side, _, number = asked.partition("-")
        st.dialog(say("source.title"), width="medium", position="right")(source_view.show)(api(), reports[side], number)
