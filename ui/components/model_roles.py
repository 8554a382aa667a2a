"""What serves each role and since when; the operator may hold a role, release it, or give it back."""

from collections.abc import Callable

import streamlit as st

from rubrica_client import registry
from rubrica_client.models import ActReason, RoleList, RoleView
from rubrica_client.request import Request
from ui.components.controls import send_command
from ui.components.markup import escape
from ui.language import say, say_name, say_time
from ui.session import get_api

PAGE = "views/models.py"
MOST_REASON = 1_000


def show(roles: RoleList) -> None:
    """Draw a row for each role."""
    for role in roles.items:
        with st.container(border=True, key=f"role_{role.role}", gap="xsmall"):
            st.html(_role_html(role))
            if role.canary:
                st.page_link(PAGE, label=say("models.see_canary"), query_params={"id": role.canary.version})
            if roles.may_act and role.served:
                _show_acts(role)


def ask_reason(label: str, help_: str, key: str, icon: str, act: Callable[[str], Request[object]], done: str) -> None:
    """Draw a button that asks why, then does something and draws the page anew."""
    with st.popover(label, icon=icon):
        st.markdown(help_)
        why = st.text_area(say("models.reason"), max_chars=MOST_REASON, key=f"why_{key}")
        pressed = st.button(label, key=f"do_{key}", type="primary")
        if pressed and not why.strip():
            st.html(f'<p class="r-quiet">{escape(say("models.reason_missing"))}</p>')
        elif pressed and send_command(lambda: get_api().send(act(why.strip())), done):
            st.rerun()


def _show_acts(role: RoleView) -> None:
    name = role.role
    with st.container(horizontal=True, gap="small"):
        if role.held:
            ask_reason(
                say("models.release"),
                say("models.release_help"),
                f"release_{name}",
                ":material/lock_open:",
                lambda why: registry.release(name, ActReason(reason=why)),
                say("models.released"),
            )
        else:
            ask_reason(
                say("models.hold"),
                say("models.hold_help"),
                f"hold_{name}",
                ":material/lock:",
                lambda why: registry.hold(name, ActReason(reason=why)),
                say("models.held"),
            )
        ask_reason(
            say("models.back"),
            say("models.back_help"),
            f"back_{name}",
            ":material/undo:",
            lambda why: registry.go_back(name, ActReason(reason=why)),
            say("models.given_back"),
        )


def _role_html(role: RoleView) -> str:
    if not role.served:
        served = f'<span class="r-quiet">{escape(say("models.nobody"))}</span>'
    else:
        since = say("models.since", when=say_time(role.since)) if role.since else ""
        served = f'{escape(role.served)} <span class="r-quiet">{escape(since)}</span>'
    lines = [f"<strong>{escape(say_name('model_role', role.role))}</strong> {served}"]
    if role.canary:
        told = say("models.canary", name=role.canary.served, share=f"{role.canary.share:.0%}")
        lines.append(f'<span class="r-chip partial">{escape(told)}</span>')
    if role.held:
        told = say("models.held_by", by=role.held.by, when=say_time(role.held.at), why=role.held.why)
        lines.append(f'<span class="r-quiet">{escape(told)}</span>')
    return "<br>".join(lines)
