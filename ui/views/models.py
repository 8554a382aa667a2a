"""Models that were trained here. There are none until training is set up, and the page says so."""

import streamlit as st

from ui.components.markup import text
from ui.language import say


def main() -> None:
    """What will stand here, and what makes it come."""
    st.html(
        f'<div class="r-hero"><h1>{text(say("models.title"))}</h1><p class="r-lead">{text(say("models.none"))}</p></div>'
        f'<p class="r-quiet">{text(say("models.why"))}</p>'
    )
    st.page_link("views/compare.py", label=say("models.compare"), icon=":material/compare_arrows:")


main()
