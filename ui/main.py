"""Entry of the web page: navigation only. Start it with `streamlit run ui/main.py`.

The pages are in `views/`: Streamlit takes a folder named `pages` beside the entry for its older kind of app, and then
runs a page on its own, without this file, when a link to it is the first request that a new server gets.
"""

import streamlit as st

from ui.components import style

st.set_page_config(page_title="Rubrica", page_icon=str(style.ASSETS / "mark.svg"), layout="wide")
style.apply()
st.logo(str(style.ASSETS / "logo.svg"), size="large")
st.navigation(
    [
        st.Page("views/ask.py", title="Ask", icon=":material/edit:", default=True),
        st.Page("views/watch.py", title="Watch", icon=":material/timeline:", url_path="watch", visibility="hidden"),
        st.Page("views/read.py", title="Read", icon=":material/article:", url_path="read", visibility="hidden"),
        st.Page("views/history.py", title="History", icon=":material/history:", url_path="history"),
        st.Page("views/source.py", title="Source", url_path="source", visibility="hidden"),
    ],
    position="top",
).run()
