"""A form for a rubric: criteria can be reworded, weighted, dropped and added."""

from collections.abc import Sequence

import streamlit as st

from rubrica_client.models import Criterion
from ui import drafts
from ui.components import icon_button
from ui.language import say, say_name

# A description opens with its category, which decides the weights it may have; the heaviest first.
CATEGORIES = {"key": (5,), "important": (4, 3), "optional": (2, 1), "error": (-2, -1)}
ENGLISH = ("Key Criterion:", "Important Criterion:", "Optional Criterion:", "Error Criterion:")
CHINESE = ("关键标准：", "重要标准：", "可选标准：", "错误标准：")
OPENINGS = {code: dict(zip(CATEGORIES, words, strict=True)) for code, words in (("en", ENGLISH), ("zh", CHINESE))}
MOST_CRITERIA = 20


def split_criterion(criterion: Criterion) -> tuple[str, str]:
    """Return the category of a criterion, and its demand without the category's name."""
    for openings in OPENINGS.values():
        for category, opening in openings.items():
            if criterion.description.lower().startswith(opening.lower()):
                return category, criterion.description[len(opening) :].strip()
    return "error" if criterion.weight < 0 else "important", criterion.description


def join_criterion(title: str, category: str, demand: str, before: Criterion, language: str) -> Criterion:
    """Return the criterion as the API reads it. It keeps its weight if the category allows that one."""
    weights = CATEGORIES[category]
    weight = before.weight if before.weight in weights else weights[0]
    opening = OPENINGS.get(language, OPENINGS["en"])[category]
    gap = "" if opening.endswith("：") else " "
    return Criterion(title=title.strip(), description=f"{opening}{gap}{demand.strip()}", weight=weight)


def show(key: str, criteria: Sequence[Criterion], language: str) -> tuple[Criterion, ...]:
    """Draw the form, and return the criteria as edited. What is typed is stored until `forget`, also through a reload."""
    before = tuple(criteria)
    if has_changed(key, before) or f"{key}_add" not in st.session_state:
        _open_draft(key, before)
    draft, numbers = st.session_state[f"{key}_draft"], st.session_state[f"{key}_numbers"]
    edited = tuple(_show_criterion(key, position, number, draft[position], language) for position, number in enumerate(numbers))
    full = len(draft) >= MOST_CRITERIA
    why = say("rubric.full", n=MOST_CRITERIA) if full else None
    st.button(
        say("rubric.add"), key=f"{key}_add", icon=":material/add:", on_click=_add_criterion, args=(key,), disabled=full, help=why
    )
    drafts.keep(key, before, edited)
    return tuple(criterion for criterion in edited if criterion.title)


def forget(key: str) -> None:
    """Remove what was typed."""
    drafts.forget(key)


def has_changed(key: str, criteria: Sequence[Criterion]) -> bool:
    """Return whether the form was not drawn yet, or with other criteria than these, which somebody has put in their place."""
    return st.session_state.get(f"{key}_over") != tuple(criteria)


def _open_draft(key: str, criteria: tuple[Criterion, ...]) -> None:
    """Fill the form with what was typed, or with the criteria if they have changed since or nothing was typed."""
    draft: tuple[Criterion, ...] | None = drafts.find(key, criteria)
    rows = list(criteria if draft is None else draft)
    there = st.session_state[f"{key}_numbers"] if f"{key}_add" in st.session_state else ()
    first = max(there, default=-1) + 1  # a field that is there keeps its words as long as its number
    st.session_state[f"{key}_draft"], st.session_state[f"{key}_over"] = rows, criteria
    st.session_state[f"{key}_numbers"] = list(range(first, first + len(rows)))


def _show_criterion(key: str, position: int, number: int, criterion: Criterion, language: str) -> Criterion:
    """Draw one criterion, and return it as edited. Its widgets have a number that does not change when others are dropped."""
    category, demand = split_criterion(criterion)
    with st.container(border=True, gap="xsmall", key=f"{key}_row_{number}"):
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            title = st.text_input(
                say("rubric.title"), criterion.title, 120, key=f"{key}_title_{number}", label_visibility="collapsed",
                placeholder=say("rubric.title"),
            )  # fmt: skip
            kind = st.selectbox(
                say("rubric.category"), list(CATEGORIES), list(CATEGORIES).index(category), _name_category,
                key=f"{key}_kind_{number}", label_visibility="collapsed", width=170,
            )  # fmt: skip
            icon_button.show(
                say("rubric.drop"), ":material/close:", f"{key}_drop_{number}", on_click=_drop_criterion, args=(key, position)
            )
        words = st.text_area(
            say("rubric.demand"), demand, 68, 500, key=f"{key}_demand_{number}", label_visibility="collapsed",
            placeholder=say("rubric.demand"),
        )  # fmt: skip
    return join_criterion(title or "", kind or category, words or "", criterion, language)


def _name_category(category: str) -> str:
    return say_name("category", category)


def _add_criterion(key: str) -> None:
    numbers = st.session_state[f"{key}_numbers"]
    st.session_state[f"{key}_draft"].append(Criterion(title="", description="", weight=4))
    numbers.append(max(numbers, default=-1) + 1)


def _drop_criterion(key: str, position: int) -> None:
    del st.session_state[f"{key}_draft"][position]
    del st.session_state[f"{key}_numbers"][position]
