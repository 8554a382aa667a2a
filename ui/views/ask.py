"""The form that asks a question."""

from collections.abc import Sequence
from contextlib import nullcontext
from uuid import uuid4

import streamlit as st

from rubrica_client import ApiError, runs
from rubrica_client.models import ClarifyingQuestion, Effort, NewRun
from ui.components import attached_files, before_start, own_collections, problem, run_options, system_choice
from ui.components.markup import escape, hero_html
from ui.language import say, say_name
from ui.session import ask_once, forget_latest, get_api, has_model, is_own_machine, list_latest_runs, may

EXAMPLES = ("ask.example1", "ask.example2", "ask.example3")
EFFORTS = ("quick", "standard", "deep")
WISHES = ("plan", "rubric", "back")
QUESTIONS = "questions_back"
START_KEY = "start_key"


def main() -> None:
    """Show the form, and some examples."""
    st.html(hero_html(say("ask.title"), say("ask.lead")))
    try:
        asks = may("runs:write")
    except ApiError as error:
        problem.show(error)
        return
    if not asks:
        st.html(f'<div class="r-note" role="status">{escape(say("ask.reader"))}</div>')
        st.page_link("views/history.py", label=say("nav.history"), icon=":material/history:")
        return
    try:
        list_latest_runs()
    except ApiError as error:
        problem.show(error)
    with st.container(key="narrow_ask"):
        if not has_model():
            _tell_no_model()
        with st.container(key="ask_form"):
            _show_form()
        st.pills(say("ask.examples"), [say(key) for key in EXAMPLES], key="example", on_change=_take_example, wrap=True)


def _tell_no_model() -> None:
    """Say what a report is without a language model, and how to have one."""
    with st.expander(say("ask.no_model"), icon=":material/info:", key="no_model"):
        st.markdown(say("ask.no_model_means"))
        st.markdown(say("ask.no_model_own" if is_own_machine() else "ask.no_model_others"))


def _show_form() -> None:
    question = st.text_area(
        say("ask.question"), key="question", height=120, label_visibility="collapsed", placeholder=say("ask.placeholder")
    )
    with st.container(horizontal=True, gap="large"):
        effort, wishes = _ask_effort(), _ask_wishes()
    ready = attached_files.show() if may("collections:write") else True
    own = own_collections.choose(question or "")
    with st.expander(say("ask.options"), icon=":material/tune:", type="compact", key="options"):
        names = system_choice.choose()
        options = run_options.show(own)
    plan, rubric = "plan" in wishes or None, "auto" if "rubric" in wishes or len(names) > 1 else None
    options |= {"system": names[0] if names else None, "beside": names[1:] or None, "approve_plan": plan, "rubric": rubric}
    chosen = {name: value for name, value in options.items() if value is not None}
    new = NewRun(question=question or "", effort=Effort(effort), **chosen)
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(
            say("ask.start"),
            key="start",
            type="primary",
            icon=":material/arrow_forward:",
            icon_position="right",
            disabled=not ready,
            help=None if ready else say("ask.attach_wait"),
        ):
            _begin_run(new, ask_back="back" in wishes)
        elif QUESTIONS in st.session_state:
            _show_questions(new)
        before_start.show_estimate(get_api(), new)
    st.html(own_collections.searched_html(new))


def _ask_effort() -> str:
    chosen = st.segmented_control(
        say("ask.effort"),
        EFFORTS,
        default="standard",
        required=True,
        format_func=lambda effort: say_name("effort", effort),
        key="effort",
        help=say("ask.effort_help"),
    )
    return chosen or "standard"


def _ask_wishes() -> list[str]:
    return st.pills(
        say("ask.first"),
        WISHES,
        selection_mode="multi",
        format_func=lambda wish: say_name("wish", wish),
        key="wishes",
        help=say("ask.first_help"),
        wrap=True,
    )


def _take_example() -> None:
    st.session_state["question"] = st.session_state.get("example") or ""


def _begin_run(new: NewRun, *, ask_back: bool) -> None:
    if not new.question.strip():
        st.html(f'<div class="r-note" role="alert">{escape(say("ask.empty"))}</div>')
    elif ask_back:
        _ask_back(new)
    else:
        _start_run(new)


def _ask_back(new: NewRun) -> None:
    questions = before_start.ask_back(get_api(), new)
    if questions:
        st.session_state[QUESTIONS] = questions
        _show_questions(new)
    else:
        _start_run(new)


def _show_questions(new: NewRun) -> None:
    """Show the questions back until they are answered or dismissed, also when the page is drawn again."""
    questions: Sequence[ClarifyingQuestion] = st.session_state[QUESTIONS]
    st.dialog(say("ask.back_title"), width="medium", on_dismiss=_forget_questions)(_clarify)(new, questions)


def _forget_questions() -> None:
    st.session_state.pop(QUESTIONS, None)


def _clarify(new: NewRun, questions: Sequence[ClarifyingQuestion]) -> None:
    st.caption(say("ask.back_help"))
    clarified = before_start.collect_answers(questions)
    if st.button(say("ask.start"), key="start_clarified", type="primary"):
        _forget_questions()
        _start_run(new.model_copy(update={"clarified": clarified}) if clarified else new)


def _start_run(new: NewRun) -> None:
    """Start the run, and watch it. A second click and a try after no answer have the same key, so that it starts once."""
    key = ask_once(START_KEY, new, lambda: str(uuid4()))
    try:
        with st.spinner(say("ask.drafting")) if new.beside else nullcontext():
            run = get_api().send(runs.create(new).with_key(key))
    except ApiError as error:
        if error.status:  # an answer, so that another try is a new one
            st.session_state.pop(START_KEY, None)
        problem.show(error)
        return
    st.session_state.pop(START_KEY, None)
    forget_latest()
    attached_files.forget()
    st.switch_page("views/side_by_side.py" if new.beside else "views/watch.py", query_params={"run": run.id})


main()
