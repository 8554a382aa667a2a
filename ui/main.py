"""The script that Streamlit runs at every visit: language, sign-in, navigation. `streamlit run ui/server.py` serves it.

The pages are in `views/`, because Streamlit takes a folder named `pages` beside this file for its older kind of app. It would
then run a page on its own, without this file, when a link to that page is the first request to a new server.
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
