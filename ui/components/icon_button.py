"""A button that shows only an icon. Its label is read by screen readers and shown as a tooltip."""

from collections.abc import Callable
from typing import Any

import streamlit as st

PressCallback = Callable[..., None]


def show(
    label: str,
    icon: str,
    key: str,
    *,
    disabled: bool = False,
    on_click: PressCallback | None = None,
    args: tuple[Any, ...] = (),
) -> bool:
    """Draw the button and return whether it was pressed. The style sheet hides the label (`st-key-icon_`)."""
    with st.container(key=f"icon_{key}", width="content"):
        return st.button(label, key=key, icon=icon, help=label, disabled=disabled, on_click=on_click, args=args)
