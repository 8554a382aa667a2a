"""The script that Streamlit runs at every visit: language, sign-in, navigation. `python -m ui` serves it.

The pages are in `views/`, because Streamlit takes a folder named `pages` beside this file for its older kind of app. It would
then run a page on its own, without this file, when a link to that page is the first request to a new server.
"""

import streamlit as st

from ui import language, navigation, session
from ui.components import page_frame, page_title, safe_fragments, style

st.set_page_config(page_icon=str(style.ASSETS / "mark.svg"), layout="wide")
style.apply()
language.choose()
page = navigation.choose_page()
page_title.name_page(page.title)
run_page = safe_fragments.show_safely(page.run)
if session.is_stranger():
    run_page()
    page_frame.show_to_stranger()
else:
    page_frame.show()
    if not navigation.is_leaving():
        run_page()
