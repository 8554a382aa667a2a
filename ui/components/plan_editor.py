"""A form for a plan: its steps can be reworded, ordered, dropped and added."""

from collections.abc import Sequence
from itertools import count

import streamlit as st

from rubrica_client.models import ResearchPlan, Subtask
from ui import drafts
from ui.components import icon_button
from ui.language import say, say_count

MOST_STEPS = 12


def show(key: str, plan: ResearchPlan) -> ResearchPlan:
    """Draw the plan as a form, and return the plan as edited, without empty steps.

    What is typed is stored until `forget`, also through a reload.
    """
    steps = _open_draft(key, plan)
    for position, step in enumerate(steps):
        with st.container(border=True, gap="xsmall", key=f"{key}_step_{step.id}"):
            _show_step(key, steps, position)
    full = len(steps) >= MOST_STEPS
    reason = say("plan.full", steps=say_count("subtask", MOST_STEPS)) if full else None
    st.button(
        say("plan.add"), key=f"{key}_add", icon=":material/add:", on_click=_add_step, args=(key, plan), disabled=full, help=reason
    )
    filled = [_read_step(key, step) for step in steps]
    drafts.keep(key, (plan.revision, plan.subtasks), (plan.revision, filled))
    typed = [step for step in map(_complete_step, filled) if step.title]
    ids = {step.id for step in typed}
    after = ({"depends_on": [needed for needed in step.depends_on if needed in ids]} for step in typed)
    return plan.model_copy(update={"subtasks": [step.model_copy(update=fixed) for step, fixed in zip(typed, after, strict=True)]})


def forget(key: str) -> None:
    """Remove what was typed."""
    drafts.forget(key)
    _clear_fields(key)


def has_changed(key: str, plan: ResearchPlan) -> bool:
    """Return whether somebody has revised the plan since the form was drawn, so that the visitor has not seen it."""
    held: tuple[int, list[Subtask]] | None = st.session_state.get(f"{key}_draft")
    return held is not None and held[0] != plan.revision


def _clear_fields(key: str) -> None:
    for name in [name for name in st.session_state if str(name).startswith(f"{key}_") and name != f"{key}_save"]:
        del st.session_state[name]


def _open_draft(key: str, plan: ResearchPlan) -> list[Subtask]:
    """Return the steps in the form, loaded again, with what was typed, if the form was hidden or the plan was revised.

    The fields of another revision go, because a field keeps its words whatever it is drawn with.
    """
    if has_changed(key, plan):
        _clear_fields(key)
    held: tuple[int, list[Subtask]] | None = st.session_state.get(f"{key}_draft")
    if held is None or f"{key}_add" not in st.session_state:
        draft: tuple[int, Sequence[Subtask]] | None = drafts.find(key, (plan.revision, plan.subtasks))
        held = st.session_state[f"{key}_draft"] = (plan.revision, list(plan.subtasks if draft is None else draft[1]))
    return held[1]


def _show_step(key: str, steps: list[Subtask], position: int) -> None:
    step = steps[position]
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.html(f'<span class="r-dot">{position + 1}</span>', width="content")
        st.text_input(
            say("plan.title"),
            step.title,
            200,
            key=f"{key}_title_{step.id}",
            label_visibility="collapsed",
            placeholder=say("plan.title"),
        )
        for name, icon, shift in (("up", ":material/arrow_upward:", -1), ("down", ":material/arrow_downward:", 1)):
            outside = not 0 <= position + shift < len(steps)
            label, button = say(f"plan.{name}"), f"{key}_{name}_{step.id}"
            icon_button.show(label, icon, button, disabled=outside, on_click=_move_step, args=(steps, position, shift))
        icon_button.show(
            say("plan.drop"), ":material/close:", f"{key}_drop_{step.id}", on_click=_drop_step, args=(steps, position)
        )
    st.text_area(
        say("plan.question"), step.question, 68, 2_000, key=f"{key}_question_{step.id}", label_visibility="collapsed",
        placeholder=say("plan.question"),
    )  # fmt: skip
    others = {other.id: f"{n}. {_title_of(key, other)}" for n, other in enumerate(steps, 1) if other.id != step.id}
    waits = [needed for needed in step.depends_on if needed in others]
    st.multiselect(
        say("plan.after"), list(others), waits, others.__getitem__, key=f"{key}_after_{step.id}", placeholder=say("plan.at_once")
    )


def _title_of(key: str, step: Subtask) -> str:
    return str(st.session_state.get(f"{key}_title_{step.id}", step.title)) or say("plan.untitled")


def _read_step(key: str, step: Subtask) -> Subtask:
    """Return the step with what was typed."""
    title = str(st.session_state[f"{key}_title_{step.id}"] or "").strip()
    question = str(st.session_state[f"{key}_question_{step.id}"] or "").strip()
    after = list(st.session_state[f"{key}_after_{step.id}"])
    return step.model_copy(update={"title": title, "question": question, "depends_on": after})


def _complete_step(step: Subtask) -> Subtask:
    """Return the step with an empty title filled from its question, or the other way round."""
    return step.model_copy(update={"title": step.title or step.question[:200], "question": step.question or step.title})


def _add_step(key: str, plan: ResearchPlan) -> None:
    """Add a step. What the plan has or had under an id may have been searched, so that a new question gets another."""
    _, steps = st.session_state[f"{key}_draft"]
    taken = {*(step.id for step in (*steps, *plan.subtasks)), *(removed.id for removed in plan.removed)}
    steps.append(Subtask(id=next(name for n in count(1) if (name := f"added{n}") not in taken), title="", question=""))


def _move_step(steps: list[Subtask], position: int, shift: int) -> None:
    steps[position], steps[position + shift] = steps[position + shift], steps[position]


def _drop_step(steps: list[Subtask], position: int) -> None:
    del steps[position]
