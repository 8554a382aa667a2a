"""Ask a question."""

import streamlit as st

from ui.api_client import ApiProblem
from ui.components import problem
from ui.components.controls import budget_inputs
from ui.components.markup import text
from ui.language import LANGUAGES, named, say
from ui.models import Budget, NewRun
from ui.session import api, forget_latest, latest_runs

EXAMPLES = ("ask.example1", "ask.example2", "ask.example3")
EFFORTS = ("quick", "standard", "deep")


def main() -> None:
    """The form, and some examples."""
    st.html(f'<div class="r-hero"><h1>{text(say("ask.title"))}</h1><p class="r-lead">{text(say("ask.lead"))}</p></div>')
    with st.container(key="narrow_ask"):
        with st.container(key="ask_form"):
            _form()
        st.pills(say("ask.examples"), [say(key) for key in EXAMPLES], key="example", on_change=_take_example)
    try:
        latest_runs()
    except ApiProblem as error:
        problem.show(error)


def _form() -> None:
    question = st.text_area(
        say("ask.question"), key="question", height=120, label_visibility="collapsed", placeholder=say("ask.placeholder")
    )
    effort = _effort()
    with st.expander(say("ask.options"), icon=":material/tune:", type="compact", key="options"):
        language, budget = _options()
    if st.button(say("ask.start"), key="start", type="primary", icon=":material/arrow_forward:", icon_position="right"):
        _start(NewRun(question=question or "", effort=effort, language=language, budget=budget))


def _effort() -> str:
    chosen = st.segmented_control(
        say("ask.effort"),
        EFFORTS,
        default="standard",
        required=True,
        format_func=lambda effort: named("effort", effort),
        key="effort",
        help=say("ask.effort_help"),
    )
    return chosen or "standard"


def _options() -> tuple[str | None, Budget]:
    left, right = st.columns(2, gap="large")
    with left:
        language = st.segmented_control(
            say("ask.language"),
            ["", *LANGUAGES],
            default="",
            required=True,
            format_func=lambda code: LANGUAGES.get(code) or say("ask.same_language"),
            key="report_language",
        )
    with right:
        st.caption(say("ask.limit_help"))
        budget = budget_inputs("cap", Budget())
    return language or None, budget


def _take_example() -> None:
    st.session_state["question"] = st.session_state.get("example") or ""


def _start(new: NewRun) -> None:
    try:
        run = api().start_run(new)
    except ApiProblem as error:
        problem.show(error)
        return
    forget_latest()
    st.switch_page("views/watch.py", query_params={"run": run.id})


main()
