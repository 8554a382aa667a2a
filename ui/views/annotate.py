"""Pairs of reports to judge for others, one after the other; and how far the judges agree."""

import streamlit as st

from rubrica_client import ApiError, preferences
from rubrica_client.models import AgreementView, AssignmentView
from ui.components import choice_form, problem, two_reports
from ui.components.controls import act
from ui.components.markup import hero, labelled, text
from ui.facts import may
from ui.language import named, say, when
from ui.session import api, me


def main() -> None:
    """Show the visitor's present pair, or the one whose judgement tells most."""
    try:
        assignment = api().send(preferences.next_assignment()).assignment
    except ApiError as error:
        problem.show(error)
        return
    if assignment is None:
        st.html(hero(say("annotate.title"), say("annotate.none")))
    else:
        _judge(assignment)
    who = me()
    if who is None or may(who, "annotations:manage"):
        _agreement()


def _judge(assignment: AssignmentView) -> None:
    st.html(f'<h1 class="r-question">{text(assignment.question)}</h1>')
    st.caption(say("annotate.lead", when=when(assignment.expires_at, "minute")))
    two_reports.show(assignment.left, assignment.right)
    st.fragment(_form)(assignment)


def _form(assignment: AssignmentView) -> None:
    with st.container(border=True, key="choice"):
        choice = choice_form.form(assignment.id, None, say("annotate.send"))
        if choice and act(lambda: api().send(preferences.judge(assignment.id, choice)), say("annotate.sent")):
            st.rerun()
        with st.popover(say("annotate.skip"), icon=":material/skip_next:"):
            reason = st.text_input(say("annotate.why"), max_chars=1_000, key=f"skip_{assignment.id}")
            if st.button(say("annotate.skip_yes"), key="skip", disabled=not (reason or "").strip()) and act(
                lambda: api().send(preferences.skip(assignment.id, reason.strip())), say("annotate.skipped")
            ):
                st.rerun()


def _agreement() -> None:
    try:
        report = api().send(preferences.agreement())
    except ApiError as error:
        problem.show(error)
        return
    rows = _row(say("annotate.overall"), report.overall)
    rows += "".join(_row(named("dimension", name), agreed) for name, agreed in report.dimensions.items())
    keys = ("annotate.what", "annotate.pairs", "annotate.observed", "annotate.kappa")
    heads = "".join(f"<th>{text(say(key))}</th>" for key in keys)
    table = f'<table class="r-table"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    help_text = f'<p class="r-quiet">{text(say("annotate.kappa_help"))}</p>'
    st.html(labelled(say("annotate.agreement"), table + help_text))


def _row(name: str, agreed: AgreementView) -> str:
    observed = "–" if agreed.observed is None else f"{agreed.observed:.0%}"
    kappa = "–" if agreed.kappa is None else f"{agreed.kappa:.2f}"
    return f"<tr><td>{text(name)}</td><td>{agreed.pairs:,}</td><td>{observed}</td><td>{kappa}</td></tr>"


main()
