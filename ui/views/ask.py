"""Ask a question."""

import streamlit as st

from ui.api_client import ApiProblem
from ui.components import problem
from ui.components.controls import budget_inputs
from ui.components.run_list import run_rows
from ui.models import Budget, NewRun
from ui.session import api
from ui.wording import EFFORT

EXAMPLES = (
    "How did presidents justify tariffs before 1900?",
    "What did presidents say about immigration, and how did it change over time?",
    "How have presidents described the duties of the United States to other nations?",
)
EFFORT_HELP = (
    "Quick: few subtasks and few searches, a first look. Standard: several subtasks in parallel. "
    "Deep: more subtasks and more searches; slower, and dearer with a paid model."
)
PLACEHOLDER = "A question worth a report …"
LANGUAGES = {"": "As the question", "en": "English", "zh": "中文"}
HERO = (
    '<div class="r-hero"><h1>What do you want to know?</h1><p class="r-lead">Agents plan the research, search in parallel '
    "and write a report. Each citation opens the exact words it stands for.</p></div>"
)


def main() -> None:
    """The form, some examples, and the latest runs."""
    st.html(HERO)
    with st.container(key="ask_form"):
        question = st.text_area("Question", key="question", height=120, label_visibility="collapsed", placeholder=PLACEHOLDER)
        effort, language, budget = _options()
        if st.button("Start the research", key="start", type="primary", icon=":material/arrow_forward:", icon_position="right"):
            _start(NewRun(question=question or "", effort=effort, language=language, budget=budget))
    st.pills("For example", EXAMPLES, key="example", on_change=_take_example)
    _latest()


def _options() -> tuple[str, str | None, Budget]:
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        return _effort(), _language(), _limit()


def _effort() -> str:
    options = list(EFFORT)
    chosen = st.segmented_control(
        "Effort", options, default="standard", required=True, format_func=EFFORT.__getitem__, key="effort", help=EFFORT_HELP
    )
    return chosen or "standard"


def _language() -> str | None:
    options = list(LANGUAGES)
    chosen = st.segmented_control(
        "Language", options, default="", required=True, format_func=LANGUAGES.__getitem__, key="language"
    )
    return chosen or None


def _limit() -> Budget:
    with st.popover("Set a limit", icon=":material/speed:"):
        st.caption("At a limit the run pauses and keeps everything; you then choose to finish or to continue.")
        return budget_inputs("cap", Budget())


def _take_example() -> None:
    st.session_state["question"] = st.session_state.get("example") or ""


def _start(new: NewRun) -> None:
    try:
        run = api().start_run(new)
    except ApiProblem as error:
        problem.show(error)
        return
    st.switch_page("views/watch.py", query_params={"run": run.id})


def _latest() -> None:
    try:
        runs = api().runs(limit=3).items
    except ApiProblem as error:
        problem.show(error)
        return
    if runs:
        st.html('<div class="r-label" style="margin-top:1.6rem">Latest</div>')
        run_rows(runs)


main()
