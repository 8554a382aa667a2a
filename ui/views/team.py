"""The team: members, invitations and API keys."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from rubrica_client import ApiError, accounts
from rubrica_client.models import KeyInfo, Me, Member, NewKey
from ui.components import problem
from ui.components.controls import send_command
from ui.components.markup import escape
from ui.language import now, say, say_name, say_time
from ui.session import get_api, get_me, make_page_address, may

ROLES = ("viewer", "member", "admin", "owner")
KEY_DAYS = {"month": 30, "quarter": 90, "year": 365, "ever": 0}


def main() -> None:
    """Show what the visitor may see of the team and its keys."""
    st.html(f'<div class="r-hero"><h1>{escape(say("team.title"))}</h1></div>')
    who = get_me()
    if who is None:
        st.html(f'<p class="r-lead">{escape(say("team.local"))}</p>')
        return
    st.html(f'<p class="r-lead">{escape(who.organisation.name)} · {escape(say_name("role", who.organisation.role))}</p>')
    if not may("keys:read"):
        _try_part(lambda: _show_people(who))
        return
    people, keys = st.tabs([say("team.people"), say("team.keys")])
    with people:
        _try_part(lambda: _show_people(who))
    with keys:
        _try_part(lambda: _show_keys(who))


def _try_part(part: Callable[[], None]) -> None:
    try:
        part()
    except ApiError as error:
        problem.show(error)


def _show_people(who: Me) -> None:
    page = get_api().send(accounts.members(before=st.query_params.get("before")))
    for member in page.items:
        _show_member(who, member)
    if page.next is not None:
        st.page_link("views/team.py", label=say("team.more"), query_params={"before": page.next})
    if may("team:write"):
        _show_invitations(who)


def _show_member(who: Me, member: Member) -> None:
    own = member.user_id == who.user_id
    with st.container(horizontal=True, vertical_alignment="center", key=f"member_{member.user_id}"):
        st.html(f'<b>{escape(member.name)}</b><br><span class="r-quiet">{escape(member.email)}</span>')
        if not may("team:write") or own:
            st.html(f'<span class="r-chip">{escape(say_name("role", member.role))}</span>', width="content")
            return
        key = f"role_{member.user_id}"
        st.selectbox(
            say("team.role"), ROLES, ROLES.index(member.role), _name_role, key=key, label_visibility="collapsed", width=150,
            on_change=_set_role, args=(member, key),
        )  # fmt: skip
        with st.popover(say("team.remove")):
            st.markdown(say("team.remove_help"))
            if st.button(say("team.remove_yes"), key=f"remove_{member.user_id}", type="primary") and send_command(
                lambda: get_api().send(accounts.remove_member(member.user_id)), say("team.removed")
            ):
                st.rerun()


def _set_role(member: Member, key: str) -> None:
    if not send_command(lambda: get_api().send(accounts.set_role(member.user_id, st.session_state[key])), say("team.role_set")):
        st.session_state[key] = str(member.role)


def _name_role(role: str) -> str:
    return say_name("role", role)


def _show_invitations(who: Me) -> None:
    st.html(f'<h2 class="r-label" style="margin-top:1.6rem">{escape(say("team.invitations"))}</h2>')
    sent_before = st.container()
    offered = ROLES[: ROLES.index(who.organisation.role) + 1] if who.organisation.role in ROLES else ROLES[:2]
    row = st.form("invite", clear_on_submit=True, border=False)
    with row, st.container(horizontal=True, vertical_alignment="bottom"):
        email = st.text_input(say("team.email"), type="email", key="invite_email")
        role = st.selectbox(say("team.role"), offered, min(1, len(offered) - 1), _name_role, key="invite_role")
        sent = st.form_submit_button(say("team.invite"), icon=":material/person_add:")
    if sent and email:
        _invite(email, role)
    with sent_before:  # drawn last, to include the invitation just sent
        _list_open_invitations()


def _list_open_invitations() -> None:
    for invitation in get_api().send(accounts.invitations()).items:
        with st.container(horizontal=True, vertical_alignment="center", key=f"invitation_{invitation.id}"):
            until = say("team.until", when=say_time(invitation.expires_at, "day"))
            facts = f"{say_name('role', invitation.role)} · {until}"
            st.html(f'{escape(invitation.email)} <span class="r-quiet">{escape(facts)}</span>')
            if st.button(say("team.withdraw"), key=f"withdraw_{invitation.id}") and send_command(
                partial(get_api().send, accounts.withdraw(invitation.id)), say("team.withdrawn")
            ):
                st.rerun()


def _invite(email: str, role: str) -> None:
    try:
        made = get_api().send(accounts.invite(email, role))
    except ApiError as error:
        problem.show(error)
        return
    email = made.invitation.email
    message = say("team.mailed", email=email) if made.mailed else say("team.hand_over", email=email)
    why = f' <span class="r-quiet">{escape(say("team.not_mailed", why=made.mail_problem))}</span>' if made.mail_problem else ""
    st.html(f'<div class="r-note" role="status">{escape(message)}{why}</div>')
    if made.mailed:
        return
    link = "/sign-in?" + urlencode({"form": "join", "token": made.token})
    st.code(make_page_address(link), language=None, wrap_lines=True)


def _show_keys(who: Me) -> None:
    if may("keys:write"):
        _show_new_key_form(who)
    for key in get_api().send(accounts.keys()).items:
        _show_key(who, key)


def _show_new_key_form(who: Me) -> None:
    with st.expander(say("team.new_key"), icon=":material/key:", type="compact"), st.form("new_key", border=False):
        name = st.text_input(say("team.key_name"), max_chars=100, key="key_name")
        scopes = st.multiselect(
            say("team.scopes"), who.scopes, [s for s in who.scopes if s.startswith("runs:")], key="key_scopes"
        )
        st.html(_scopes_html(who.scopes))
        lasting = st.segmented_control(
            say("team.lasts"),
            list(KEY_DAYS),
            default="quarter",
            required=True,
            format_func=lambda v: say_name("lasting", v),
            key="key_lasts",
        )
        sent = st.form_submit_button(say("team.make_key"), type="primary")
    if sent and name and scopes:
        days = KEY_DAYS[lasting or "quarter"]
        ends = datetime.now(UTC) + timedelta(days=days) if days else None
        try:
            made = get_api().send(accounts.make_key(NewKey(name=name, scopes=scopes, expires_at=ends)))
        except ApiError as error:
            problem.show(error)
            return
        st.html(f'<div class="r-note warn" role="status">{escape(say("team.shown_once"))}</div>')
        st.code(made.key, language=None)


def _scopes_html(scopes: Sequence[str]) -> str:
    """Return what each scope allows, a line for each, as HTML."""
    lines = (f"<dt>{escape(scope)}</dt><dd>{escape(say_name('scope', scope.replace(':', '_')))}</dd>" for scope in scopes)
    return f'<details class="r-scopes" open><summary>{escape(say("team.explained"))}</summary><dl>{"".join(lines)}</dl></details>'


def _show_key(who: Me, key: KeyInfo) -> None:
    used = say("team.used", when=say_time(key.last_used_at, "short")) if key.last_used_at else say("team.unused")
    over = key.expires_at is not None and key.expires_at < now()
    until = (
        say("team.expired")
        if over
        else say("team.until", when=say_time(key.expires_at, "day"))
        if key.expires_at
        else say("team.for_ever")
    )
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"row_key_{key.id}"):
        facts = " · ".join((used, until, ", ".join(key.scopes)))
        st.html(f'<b>{escape(key.name)}</b><br><span class="r-quiet">{escape(facts)}</span>')
        if (
            may("keys:write")
            and st.button(say("team.revoke"), key=f"revoke_{key.id}")
            and send_command(lambda: get_api().send(accounts.revoke_key(key.id)), say("team.revoked"))
        ):
            st.rerun()


main()
