"""Parts of the page that draw themselves anew: whatever fails in one becomes a sentence of ours, never Streamlit's own box."""

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

import streamlit as st

from rubrica_client import ApiError
from ui.components import problem

log = logging.getLogger(__name__)


def show_safely(draw: Callable[..., Any]) -> Callable[..., None]:
    """Return a function that draws the same, and shows the problem where that fails."""

    @wraps(draw)
    def draw_safely(*args: Any) -> None:
        try:
            draw(*args)
        except ApiError as error:
            problem.show(error)
        except Exception:
            log.exception("a part of the page failed")
            problem.show_unexpected()

    return draw_safely


def make_fragment(draw: Callable[..., Any], run_every: timedelta | None = None) -> Callable[..., None]:
    """Return Streamlit's fragment of a function, drawn safely."""
    fragment: Callable[..., None] = st.fragment(show_safely(draw), run_every=run_every)
    return fragment
