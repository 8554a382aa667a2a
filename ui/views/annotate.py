"""Pairs of reports to judge for others, one after the other; and how far the judges agree."""

import streamlit as st

from rubrica_client import ApiError, preferences
from rubrica_client.models import AgreementView, AssignmentView
from ui.components import choice_form, problem, safe_fragments, texts_side_by_side
from ui.components.controls import send_command
from ui.components.markup import escape, hero_html, labelled_html
from ui.language import say, say_name, say_time
from ui.session import get_api, may


def main() -> None:
    """Show the visitor's present pair, or the one whose judgement tells most."""
    try:
        assignment = get_api().send(preferences.next_assignment()).assignment
    except ApiError as error:
        problem.show(error)
        return
    if assignment is None:
        st.html(hero_html(say("annotate.title"), say("annotate.none")))
    else:
        _show_pair(assignment)
    if may("annotations:manage"):
        _show_agreement()


def _show_pair(assignment: AssignmentView) -> None:
    st.html(f'<h1 class="r-question">{escape(assignment.question)}</h1>')
    st.caption(say("annotate.lead", when=say_time(assignment.expires_at, "minute")))
    texts_side_by_side.show(assignment.left, assignment.right)
    safe_fragments.make_fragment(_show_form)(assignment)


def _show_form(assignment: AssignmentView) -> None:
    with st.container(border=True, key="choice"):
        choice = choice_form.ask_choice(assignment.id, None, say("annotate.send"))
        if choice and send_command(lambda: get_api().send(preferences.judge(assignment.id, choice)), say("annotate.sent")):
            st.rerun()
        with st.popover(say("annotate.skip"), icon=":material/skip_next:"):
            reason = st.text_input(say("annotate.why"), max_chars=1_000, key=f"skip_{assignment.id}")
            unsaid = not (reason or "").strip()
            why = say("annotate.why_first") if unsaid else None
            if st.button(say("annotate.skip_yes"), key="skip", disabled=unsaid, help=why) and send_command(
                lambda: get_api().send(preferences.skip(assignment.id, reason.strip())), say("annotate.skipped")
            ):
                st.rerun()


def _show_agreement() -> None:
    try:
        report = get_api().send(preferences.agreement())
    except ApiError as error:
        problem.show(error)
        return
    rows = _row_html(say("annotate.overall"), report.overall)
    rows += "".join(_row_html(say_name("dimension", name), agreed) for name, agreed in report.dimensions.items())
    keys = ("annotate.what", "annotate.pairs", "annotate.observed", "annotate.kappa")
    heads = "".join(f"<th>{escape(say(key))}</th>" for key in keys)
    table = f'<table class="r-table"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    help_text = f'<p class="r-quiet">{escape(say("annotate.kappa_help"))}</p>'
    st.html(labelled_html(say("annotate.agreement"), table + help_text))


def _row_html(name: str, agreed: AgreementView) -> str:
    observed = "–" if agreed.observed is None else f"{agreed.observed:.0%}"
    kappa = "–" if agreed.kappa is None else f"{agreed.kappa:.2f}"
    return f"<tr><td>{escape(name)}</td><td>{agreed.pairs:,}</td><td>{observed}</td><td>{kappa}</td></tr>"


main()
