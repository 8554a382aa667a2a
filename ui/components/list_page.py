"""A page about things of one kind: a list of them, or the one that the address names."""

from collections.abc import Callable

import streamlit as st

from rubrica_client import ApiError
from ui.components import problem
from ui.components.controls import send_command
from ui.components.markup import escape_for_markdown
from ui.language import say
from ui.session import read_query


def show(title: str, one: Callable[[str], None], several: Callable[[str | None], None]) -> None:
    """Draw the thing in the address (`?id=`) with a button back to all, else the list from `?before=` on."""
    if chosen := read_query("id"):
        show_one(title, chosen, one)
        return
    try:
        several(read_query("before"))
    except ApiError as error:
        problem.show(error)


def show_one(title: str, chosen: str, one: Callable[[str], None]) -> None:
    """Draw one thing, with a button back to all."""
    st.button(title, key="shelf_all", icon=":material/arrow_back:", type="tertiary", on_click=st.query_params.clear)
    try:
        one(chosen)
    except ApiError as error:
        problem.show(error)


def show_row(page: str, name: str, label: str, facts: str) -> None:
    """Draw one thing in the list: a link to it by its `name` in the address, then its facts, which are HTML."""
    with st.container(border=True, key=f"row_{name}", gap="xsmall"):
        st.page_link(page, label=escape_for_markdown(label), query_params={"id": name})
        st.html(facts)


def link_older(page: str, following: str | None, **here: str) -> None:
    """Draw a link to the next part of a list, if there is one. `here` are the other parameters of the address."""
    if following:
        st.page_link(
            page, label=say("history.older"), icon=":material/arrow_downward:", query_params=here | {"before": following}
        )


def offer_delete(warning: str, action: Callable[[], object]) -> None:
    """Draw a button that says what is deleted with the thing. When it is confirmed, delete the thing and show the list."""
    with st.popover(say("shelf.delete"), icon=":material/delete:"):
        st.markdown(warning)
        if st.button(say("shelf.delete_yes"), key="delete_it", type="primary") and send_command(action, say("shelf.deleted")):
            st.query_params.clear()
            st.rerun()
