"""Filters above a list: what was chosen is in the address, and another choice begins the list anew."""

from collections.abc import Callable
from datetime import date

import streamlit as st

from ui.language import say
from ui.session import read_query


def show_choice(
    group: str, name: str, label: str, offered: tuple[str, ...], label_of: Callable[[str], str], width: int = 220
) -> None:
    """Draw a choice of one value. `group` keeps the keys of several lists apart; `name` is the parameter in the address."""
    value = read_query(name)
    options = (*offered, value) if value and value not in offered else offered
    place = options.index(value) if value else None
    st.selectbox(
        label, options, place, format_func=label_of, key=f"{group}_{name}", placeholder=say("audit.all"),
        on_change=_write_address, args=(group, name), width=width,
    )  # fmt: skip


def show_day(group: str, name: str, label: str) -> None:
    """Draw a choice of one day."""
    try:
        day = date.fromisoformat(read_query(name) or "")
    except ValueError:
        day = None
    st.date_input(
        label, day, key=f"{group}_{name}", format="YYYY-MM-DD",
        on_change=_write_address, args=(group, name), width=150,
    )  # fmt: skip


def show_switch(group: str, name: str, label: str) -> None:
    """Draw a switch; the address has its parameter while it is on."""
    st.toggle(label, bool(read_query(name)), key=f"{group}_{name}", on_change=_write_address, args=(group, name))


def _write_address(group: str, name: str) -> None:
    st.query_params.pop("before", None)
    chosen = st.session_state[f"{group}_{name}"]
    if chosen:
        st.query_params[name] = str(chosen)
    else:
        st.query_params.pop(name, None)
