"""Models that were trained here. Without training there are none, and the page says so."""

import streamlit as st

from ui.components.markup import escape, hero_html
from ui.language import say


def main() -> None:
    """Show what this page will list, and where the models come from."""
    st.html(f'{hero_html(say("models.title"), say("models.none"))}<p class="r-quiet">{escape(say("models.why"))}</p>')
    st.page_link("views/compare.py", label=say("models.compare"), icon=":material/compare_arrows:")


main()
