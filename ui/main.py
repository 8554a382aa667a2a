"""What every visit runs: language, who is signed in, navigation. The page is served by `streamlit run ui/server.py`.

The pages are in `views/`: Streamlit takes a folder named `pages` beside the entry for its older kind of app, and then
runs a page on its own, without this file, when a link to it is the first request that a new server gets.
"""

import streamlit as st

from ui import language, navigation, session
from ui.components import shell, style

st.set_page_config(page_title="Rubrica", page_icon=str(style.ASSETS / "mark.svg"), layout="wide")
style.apply()
language.choose()
page = navigation.chosen()
if session.stranger():
    page.run()
    shell.browser()
else:
    shell.show()
    page.run()
