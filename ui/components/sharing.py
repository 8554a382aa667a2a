"""Public links to a report: make one, list those that exist, revoke them."""

from functools import partial

import streamlit as st

from rubrica_client import ApiError, Client, reports
from rubrica_client.models import CreatedShare, Run
from ui.components import problem
from ui.components.controls import send_command
from ui.components.markup import escape
from ui.language import say, say_time
from ui.session import make_page_address

DAYS = (1, 7, 30, 90)


def show_form(client: Client, run: Run) -> None:
    """Draw the form that makes a public link. The link's address is shown only until the reader leaves the page."""
    st.caption(say("share.help"))
    days = st.segmented_control(say("share.days"), DAYS, default=7, required=True, key="share_days")
    if st.button(say("share.make"), key="share", type="primary"):
        try:
            st.session_state["made_link"] = (run.id, client.send(reports.share(run.id, days or 7)))
        except ApiError as error:
            problem.show(error)
            return
    made: tuple[str, CreatedShare] | None = st.session_state.get("made_link")
    if made is None or made[0] != run.id:
        return
    link = made[1]
    st.html(f'<div class="r-note" role="status">{escape(say("share.once", when=say_time(link.expires_at, "day")))}</div>')
    st.code(make_page_address(f"/shared/{link.token}"), language=None, wrap_lines=True)


def show_links(client: Client, run: Run) -> None:
    """Draw the links that exist, each with its end. Nobody stores their addresses, so these cannot be shown."""
    open_links = [link for link in client.send(reports.shares(run.id)).items if link.revoked_at is None]
    if open_links:
        st.caption(say("share.there"))
    for link in open_links:
        with st.container(horizontal=True, vertical_alignment="center", key=f"link_{link.id}"):
            st.html(f'<span class="r-quiet">{escape(say("team.until", when=say_time(link.expires_at, "day")))}</span>')
            revoke = partial(client.send, reports.revoke_share(run.id, link.id))
            if st.button(say("team.revoke"), key=f"revoke_{link.id}") and send_command(revoke, say("share.revoked")):
                st.session_state.pop("made_link", None)
                st.rerun()
