"""A button that shows an icon only: its label is for who does not see it, and for who rests on it."""

from collections.abc import Callable
from typing import Any

import streamlit as st

Pressed = Callable[..., None]


def show(
    label: str,
    icon: str,
    key: str,
    *,
    disabled: bool = False,
    on_click: Pressed | None = None,
    args: tuple[Any, ...] = (),
) -> bool:
    """Whether it was pressed. The label stays in the page, out of sight (`st-key-icon_` in the style sheet)."""
    with st.container(key=f"icon_{key}", width="content"):
        return st.button(label, key=key, icon=icon, help=label, disabled=disabled, on_click=on_click, args=args)
