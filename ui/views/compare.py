"""Compare two reports over the same evidence, without knowing which is which."""

from datetime import timedelta

import streamlit as st

from ui.client import preferences
from ui.client.preferences import Candidate, Comparison
from ui.components import choice_form, reader, shelf, source_view
from ui.components.markup import hero, text
from ui.components.report_view import article
from ui.components.run_list import shortened
from ui.language import current, named, say, when
from ui.models import Report
from ui.session import api

PAGE, READ = "views/compare.py", "views/read.py"
SIDES = ("left", "right")
REFRESH = timedelta(seconds=2)
PREPARED = 24


def main() -> None:
    """The comparison named in the address, else a list of them."""
    shelf.show(say("compare.title"), _one, _all)


def _all(before: str | None) -> None:
    st.html(hero(say("compare.title"), say("compare.lead")))
    page = preferences.comparisons(api(), before=before)
    if not page.items:
        st.html(f'<p class="r-quiet">{text(say("compare.none"))}</p>')
    for item in page.items:
        facts = (named("comparison", "chosen" if item.chosen else item.status), when(item.created_at, "short"))
        spans = "".join(f"<span>{text(fact)}</span>" for fact in facts)
        shelf.row(PAGE, item.id, shortened(item.question), f'<div class="r-eyebrow">{spans}</div>')
    shelf.older(PAGE, page.next)


def _one(chosen: str) -> None:
    comparison = preferences.comparison(api(), chosen)
    st.html(f'<h1 class="r-question">{text(comparison.question)}</h1>')
    if comparison.status == "failed":
        st.html(f'<div class="r-note" role="alert">{text(_sentence(comparison.detail or say("compare.failed")))}</div>')
        st.page_link(READ, label=say("compare.otherwise"), icon=":material/article:", query_params={"run": comparison.run_id})
    elif comparison.left and comparison.right:
        _blind(comparison, {"left": comparison.left, "right": comparison.right})
    else:
        st.fragment(_preparing, run_every=REFRESH)(comparison.id)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _preparing(comparison_id: str) -> None:
    """Until both reports are there."""
    st.html(f'<div class="r-note" role="status">{text(say("compare.preparing"))}</div>')
    if preferences.comparison(api(), comparison_id).status != "preparing":
        st.rerun()


def _blind(comparison: Comparison, candidates: dict[str, Candidate]) -> None:
    st.html(f'<p class="r-quiet">{text(say("compare.blind"))}</p>')
    with st.container(key="sides"):
        columns = st.columns(2, gap="medium", border=True)
    for side, column in zip(SIDES, columns, strict=True):
        with column:
            st.html(f'<h2 class="r-label">{text(named("side", side))}</h2>')
            st.html(_prepared(_report(candidates[side]).model_dump_json(), side, current()))
    choice_form.show(comparison)
    _drawer({side: _report(candidate) for side, candidate in candidates.items()})


def _report(candidate: Candidate) -> Report:
    return Report(markdown=candidate.markdown, title=candidate.title, citations=candidate.citations, claims=candidate.claims)


@st.cache_data(max_entries=PREPARED, show_spinner=False)
def _prepared(report: str, side: str, language: str) -> str:
    return article(Report.model_validate_json(report), mark=f"{side}-").html


@st.fragment
def _drawer(reports: dict[str, Report]) -> None:
    """Listens to the numbers in both texts."""
    left, right = (reader.cards(reports[side], f"{side}-") for side in SIDES)
    asked = reader.listen({kind: left[kind] | right[kind] for kind in left})
    if asked.citation:
        side, _, number = asked.citation.partition("-")
        st.dialog(say("source.title"), width="medium", position="right")(source_view.show)(api(), reports[side], number)


main()
