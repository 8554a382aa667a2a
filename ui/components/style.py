"""The page's own style, on top of the theme in `.streamlit/config.toml`."""

from pathlib import Path

import streamlit as st

ASSETS = Path(__file__).parent.parent / "assets"


def apply() -> None:
    """Add the style sheet, which follows the light and the dark theme."""
    st.html(ASSETS / "rubrica.css")
