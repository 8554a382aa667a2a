"""The title of the page in the browser: in its tab, its history and its bookmarks."""

import streamlit as st

PRODUCT = "Rubrica"
LONGEST = 80


def name_page(*parts: str) -> None:
    """Set the browser's title: what the page is about, then what kind of page it is. The last call of a run counts."""
    known = [" ".join(part.split()) for part in parts if part.strip()]
    shown = [part if len(part) <= LONGEST else part[:LONGEST].rstrip() + "…" for part in known]
    st.set_page_config(page_title=" · ".join([*shown, PRODUCT]))
