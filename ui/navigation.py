"""The pages there are, and which one the address asks for."""

import streamlit as st

from ui.language import say

Section = list[st.Page]


def chosen() -> st.Page:
    """The page to run. What one comes to by a link only, such as a run's report, is not in the menu."""
    return st.navigation({"": _work() + _linked()}, position="sidebar", expanded=True)


def _work() -> Section:
    return [
        st.Page("views/ask.py", title=say("nav.ask"), icon=":material/edit:", default=True),
        st.Page("views/history.py", title=say("nav.history"), icon=":material/history:", url_path="history"),
    ]


def _linked() -> Section:
    return [
        st.Page("views/watch.py", title=say("nav.watch"), url_path="watch", visibility="hidden"),
        st.Page("views/read.py", title=say("nav.read"), url_path="read", visibility="hidden"),
        st.Page("views/source.py", title=say("nav.source"), url_path="source", visibility="hidden"),
    ]
