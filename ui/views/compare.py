"""A blind comparison of two reports over the same evidence."""

from datetime import timedelta

import streamlit as st

from rubrica_client import preferences
from rubrica_client.models import CandidateView, ComparisonView
from ui.components import choice_form, list_page, safe_fragments, texts_side_by_side, ways_compared
from ui.components.controls import send_command
from ui.components.markup import escape, hero_html, make_sentence
from ui.components.run_list import shorten_question
from ui.language import say, say_name, say_time
from ui.session import get_api, may

PAGE, READ = "views/compare.py", "views/read.py"
REFRESH = timedelta(seconds=2)


def main() -> None:
    """Show the comparison in the address, else a list of them."""
    list_page.show(say("compare.title"), _show_one, _show_all)


def _show_all(before: str | None) -> None:
    st.html(hero_html(say("compare.title"), say("compare.lead")))
    if may("annotations:write"):
        st.page_link("views/annotate.py", label=say("annotate.link"), icon=":material/how_to_vote:")
    if may("preferences:read"):
        ways_compared.show(get_api())
    page = get_api().send(preferences.comparisons(before=before))
    if not page.items:
        st.html(f'<p class="r-quiet">{escape(say("compare.none" if may("preferences:write") else "compare.none_yet"))}</p>')
    for item in page.items:
        facts = (say_name("comparison", "chosen" if item.chosen else item.status), say_time(item.created_at, "short"))
        spans = "".join(f"<span>{escape(fact)}</span>" for fact in facts)
        list_page.show_row(PAGE, item.id, shorten_question(item.question), f'<div class="r-eyebrow">{spans}</div>')
    list_page.link_older(PAGE, page.next)


def _show_one(chosen: str) -> None:
    comparison = get_api().send(preferences.comparison(chosen))
    st.html(f'<h1 class="r-question">{escape(comparison.question)}</h1>')
    if comparison.status == "same":
        st.html(f'<div class="r-note" role="status">{escape(say("compare.same"))}</div>')
        st.page_link(READ, label=say("compare.otherwise"), icon=":material/article:", query_params={"run": comparison.run_id})
    elif comparison.status == "failed":
        st.html(f'<div class="r-note" role="alert">{escape(make_sentence(comparison.detail or say("compare.failed")))}</div>')
        st.page_link(READ, label=say("compare.otherwise"), icon=":material/article:", query_params={"run": comparison.run_id})
    elif comparison.left and comparison.right:
        _show_blind(comparison, comparison.left, comparison.right)
    else:
        safe_fragments.make_fragment(_wait_for_reports, run_every=REFRESH)(comparison.id)


def _wait_for_reports(comparison_id: str) -> None:
    """Wait until both reports are there."""
    st.html(f'<div class="r-note" role="status">{escape(say("compare.preparing"))}</div>')
    if get_api().send(preferences.comparison(comparison_id)).status != "preparing":
        st.rerun()


def _show_blind(comparison: ComparisonView, left: CandidateView, right: CandidateView) -> None:
    st.html(f'<p class="r-quiet">{escape(say("compare.blind"))}</p>')
    texts_side_by_side.show(left, right)
    if may("preferences:write"):
        choice_form.show(comparison)
    if may("annotations:manage"):
        with st.popover(say("annotate.ask"), icon=":material/how_to_vote:"):
            _offer_to_annotators(comparison)


def _offer_to_annotators(comparison: ComparisonView) -> None:
    st.caption(say("annotate.ask_help"))
    overlap = st.number_input(say("annotate.overlap"), 1, 100, 2, key="overlap")
    if st.button(say("annotate.ask_yes"), key="have_judged", type="primary"):
        send_command(lambda: get_api().send(preferences.have_judged([comparison.id], int(overlap))), say("annotate.asked"))


main()
