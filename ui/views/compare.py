"""A blind comparison of two reports over the same evidence."""

from datetime import timedelta

import streamlit as st

from rubrica_client import preferences
from rubrica_client.models import CandidateView, ComparisonView
from ui.components import choice_form, shelf, two_reports
from ui.components.controls import act
from ui.components.markup import hero, text
from ui.components.run_list import shortened
from ui.facts import may
from ui.language import named, say, when
from ui.session import api, me

PAGE, READ = "views/compare.py", "views/read.py"
REFRESH = timedelta(seconds=2)


def main() -> None:
    """Show the comparison in the address, else a list of them."""
    shelf.show(say("compare.title"), _one, _all)


def _all(before: str | None) -> None:
    st.html(hero(say("compare.title"), say("compare.lead")))
    st.page_link("views/annotate.py", label=say("annotate.link"), icon=":material/how_to_vote:")
    page = api().send(preferences.comparisons(before=before))
    if not page.items:
        st.html(f'<p class="r-quiet">{text(say("compare.none"))}</p>')
    for item in page.items:
        facts = (named("comparison", "chosen" if item.chosen else item.status), when(item.created_at, "short"))
        spans = "".join(f"<span>{text(fact)}</span>" for fact in facts)
        shelf.row(PAGE, item.id, shortened(item.question), f'<div class="r-eyebrow">{spans}</div>')
    shelf.older(PAGE, page.next)


def _one(chosen: str) -> None:
    comparison = api().send(preferences.comparison(chosen))
    st.html(f'<h1 class="r-question">{text(comparison.question)}</h1>')
    if comparison.status == "same":
        st.html(f'<div class="r-note" role="status">{text(say("compare.same"))}</div>')
        st.page_link(READ, label=say("compare.otherwise"), icon=":material/article:", query_params={"run": comparison.run_id})
    elif comparison.status == "failed":
        st.html(f'<div class="r-note" role="alert">{text(_sentence(comparison.detail or say("compare.failed")))}</div>')
        st.page_link(READ, label=say("compare.otherwise"), icon=":material/article:", query_params={"run": comparison.run_id})
    elif comparison.left and comparison.right:
        _blind(comparison, comparison.left, comparison.right)
    else:
        st.fragment(_preparing, run_every=REFRESH)(comparison.id)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _preparing(comparison_id: str) -> None:
    """Wait until both reports are there."""
    st.html(f'<div class="r-note" role="status">{text(say("compare.preparing"))}</div>')
    if api().send(preferences.comparison(comparison_id)).status != "preparing":
        st.rerun()


def _blind(comparison: ComparisonView, left: CandidateView, right: CandidateView) -> None:
    st.html(f'<p class="r-quiet">{text(say("compare.blind"))}</p>')
    two_reports.show(left, right)
    choice_form.show(comparison)
    who = me()
    if who is None or may(who, "annotations:manage"):
        with st.popover(say("annotate.ask"), icon=":material/how_to_vote:"):
            _have_judged(comparison)


def _have_judged(comparison: ComparisonView) -> None:
    st.caption(say("annotate.ask_help"))
    overlap = st.number_input(say("annotate.overlap"), 1, 100, 2, key="overlap")
    if st.button(say("annotate.ask_yes"), key="have_judged", type="primary"):
        act(lambda: api().send(preferences.have_judged([comparison.id], int(overlap))), say("annotate.asked"))


main()
