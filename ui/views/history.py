"""All runs, newest first."""

import streamlit as st

from ui.api_client import ApiProblem
from ui.components import problem
from ui.components.markup import text
from ui.components.run_list import run_rows
from ui.language import say
from ui.session import api

PAGE = 20


def main() -> None:
    """One page of runs; the address keeps where the page begins."""
    st.html(f'<div class="r-hero"><h1>{text(say("history.title"))}</h1></div>')
    words = st.text_input(
        say("history.search"), key="q", bind="query-params", icon=":material/search:", max_chars=200, type="search",
        label_visibility="collapsed", placeholder=say("history.search"),
    )  # fmt: skip
    words = (words or "").strip()
    try:
        page = api().runs(limit=PAGE, before=st.query_params.get("before"), words=words)
    except ApiProblem as error:
        problem.show(error)
        return
    if not page.items:
        st.html(f'<p class="r-lead">{text(say("history.nothing", words=words) if words else say("history.empty"))}</p>')
    run_rows(page.items)
    if page.next:
        icon = ":material/arrow_downward:"
        st.page_link(
            "views/history.py",
            label=say("history.older"),
            icon=icon,
            query_params={"before": page.next} | ({"q": words} if words else {}),
        )


main()
