"""All runs, newest first."""

import streamlit as st

from ui.api_client import ApiProblem
from ui.components import problem
from ui.components.run_list import run_rows
from ui.session import api

PAGE = 20


def main() -> None:
    """One page of runs; the address keeps where the page begins."""
    st.html('<div class="r-hero"><h1>History</h1></div>')
    try:
        page = api().runs(limit=PAGE, before=st.query_params.get("before"))
    except ApiProblem as error:
        problem.show(error)
        return
    if not page.items:
        st.html('<p class="r-lead">Nothing has been asked yet.</p>')
    run_rows(page.items)
    if page.next:
        st.page_link("views/history.py", label="Older runs", icon=":material/arrow_downward:", query_params={"before": page.next})


main()
