"""The pages of the menu, the one that the address asks for, and the way from one to another."""

from functools import cache
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from rubrica_client import ApiError
from ui.language import say
from ui.session import is_stranger, may

Pages = list[st.Page]
GOAL = "goal"
SCRIPT = Path(__file__).parent / "assets" / "follow.js"


def choose_page() -> st.Page:
    """Return the page to run. Pages that are reached by links only, such as a run's report, are not in the menu.

    A visitor who is not signed in gets the sign-in form at every address, so that the link still works after signing in.
    """
    if is_stranger():
        pages = [*_list_work_pages(), *_list_linked_pages(), *_list_organisation_pages()]
        forms = [
            st.Page("views/sign_in.py", title=say("nav.sign_in"), url_path=page.url_path, default=page.url_path == "")
            for page in pages
        ]
        return st.navigation(forms, position="hidden")
    return st.navigation(
        {"": _list_work_pages() + _list_linked_pages(), say("nav.organisation"): _list_organisation_pages()}, expanded=True
    )


def open_page(view: str, **query: str) -> NoReturn:
    """Open another page, from a button of this one."""
    st.session_state[GOAL] = (view, query)
    st.rerun()


def is_leaving() -> bool:
    """Draw the link to the page that a button has just opened, and return whether there is one."""
    view, query = st.session_state.pop(GOAL, ("", {}))
    if view:
        lead_to(view, **query)
    return bool(view)


def lead_to(view: str, **query: str) -> None:
    """Draw a link that the browser follows by itself.

    `st.switch_page` will not do on a page with parts that refresh themselves: such a refresh may come after it, and as it
    belongs to the page before, the browser takes everything off the new page (Streamlit 1.67, `handleNewSession`). A browser
    that follows a link ends the refreshes first.
    """
    with st.container(key="goal"):
        st.page_link(view, label=say("shell.go_on"), query_params=query)
    _load_follower()(key="follow")


@cache
def _load_follower() -> ComponentRenderer:
    return st.components.v2.component("rubrica_follow", js=SCRIPT.read_text("utf-8"), isolate_styles=False)


def _list_work_pages() -> Pages:
    return [
        st.Page("views/ask.py", title=say("nav.ask"), icon=":material/edit:", default=True),
        st.Page("views/history.py", title=say("nav.history"), icon=":material/history:", url_path="history"),
        st.Page("views/compare.py", title=say("nav.compare"), icon=":material/compare_arrows:", url_path="compare"),
        st.Page("views/collections.py", title=say("nav.collections"), icon=":material/folder:", url_path="collections"),
        st.Page("views/schedules.py", title=say("nav.schedules"), icon=":material/update:", url_path="schedules"),
    ]


def _list_organisation_pages() -> Pages:
    return [
        st.Page("views/team.py", title=say("nav.team"), icon=":material/group:", url_path="team"),
        st.Page("views/account.py", title=say("nav.account"), icon=":material/person:", url_path="account"),
        *_make_guarded_page("webhooks:read", "views/webhooks.py", say("nav.webhooks"), ":material/webhook:", "webhooks"),
        *_make_guarded_page("audit:read", "views/audit.py", say("nav.audit"), ":material/policy:", "audit"),
        *_make_guarded_page("usage:read", "views/usage.py", say("nav.usage"), ":material/bar_chart:", "usage"),
        st.Page("views/models.py", title=say("nav.models"), icon=":material/model_training:", url_path="models"),
    ]


def _make_guarded_page(scope: str, view: str, title: str, icon: str, path: str) -> Pages:
    """Return a page that the menu shows only to those who may read it. For others, the page itself says why not."""
    try:
        shown = is_stranger() or may(scope)
    except ApiError:
        shown = False
    return [st.Page(view, title=title, icon=icon, url_path=path, visibility="visible" if shown else "hidden")]


def _list_linked_pages() -> Pages:
    return [
        st.Page("views/watch.py", title=say("nav.watch"), url_path="watch", visibility="hidden"),
        st.Page("views/read.py", title=say("nav.read"), url_path="read", visibility="hidden"),
        st.Page("views/annotate.py", title=say("nav.annotate"), url_path="annotate", visibility="hidden"),
        st.Page("views/side_by_side.py", title=say("nav.side_by_side"), url_path="side-by-side", visibility="hidden"),
        st.Page("views/source.py", title=say("nav.source"), url_path="source", visibility="hidden"),
        st.Page("views/sign_in.py", title=say("nav.sign_in"), url_path="sign-in", visibility="hidden"),
    ]
