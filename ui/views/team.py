"""The team: members, invitations and API keys."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from rubrica_client import ApiError, accounts
from rubrica_client.models import KeyInfo, Me, Member, NewKey
from ui.components import problem
from ui.components.controls import act
from ui.components.markup import text
from ui.facts import may
from ui.language import named, now, say, when
from ui.session import api, me, page_address

ROLES = ("viewer", "member", "admin", "owner")
LASTING = {"month": 30, "quarter": 90, "year": 365, "ever": 0}


def main() -> None:
    """Show what the visitor may see of the team and its keys."""
    st.html(f'<div class="r-hero"><h1>{text(say("team.title"))}</h1></div>')
    who = me()
    if who is None:
        st.html(f'<p class="r-lead">{text(say("team.local"))}</p>')
        return
    st.html(f'<p class="r-lead">{text(who.organisation.name)} · {text(named("role", who.organisation.role))}</p>')
    people, keys = st.tabs([say("team.people"), say("team.keys")])
    with people:
        _guarded(lambda: _people(who))
    with keys:
        _guarded(lambda: _keys(who))


def _guarded(part: Callable[[], None]) -> None:
    try:
        part()
    except ApiError as error:
        problem.show(error)


def _people(who: Me) -> None:
    page = api().send(accounts.members(before=st.query_params.get("before")))
    for member in page.items:
        _member(who, member)
    if page.next is not None:
        st.page_link("views/team.py", label=say("team.more"), query_params={"before": page.next})
    if may(who, "team:write"):
        _invitations(who)


def _member(who: Me, member: Member) -> None:
    own = member.user_id == who.user_id
    with st.container(horizontal=True, vertical_alignment="center", key=f"member_{member.user_id}"):
        st.html(f'<b>{text(member.name)}</b><br><span class="r-quiet">{text(member.email)}</span>')
        if not may(who, "team:write") or own:
            st.html(f'<span class="r-chip">{text(named("role", member.role))}</span>', width="content")
            return
        key = f"role_{member.user_id}"
        st.selectbox(
            say("team.role"), ROLES, ROLES.index(member.role), _role, key=key, label_visibility="collapsed", width=150,
            on_change=_set_role, args=(member.user_id, key),
        )  # fmt: skip
        with st.popover(say("team.remove")):
            st.markdown(say("team.remove_help"))
            if st.button(say("team.remove_yes"), key=f"remove_{member.user_id}", type="primary") and act(
                lambda: api().send(accounts.remove_member(member.user_id)), say("team.removed")
            ):
                st.rerun()


def _set_role(user: str, key: str) -> None:
    act(lambda: api().send(accounts.set_role(user, st.session_state[key])), say("team.role_set"))


def _role(role: str) -> str:
    return named("role", role)


def _invitations(who: Me) -> None:
    st.html(f'<h2 class="r-label" style="margin-top:1.6rem">{text(say("team.invitations"))}</h2>')
    sent_before = st.container()
    offered = ROLES[: ROLES.index(who.organisation.role) + 1] if who.organisation.role in ROLES else ROLES[:2]
    row = st.form("invite", clear_on_submit=True, border=False)
    with row, st.container(horizontal=True, vertical_alignment="bottom"):
        email = st.text_input(say("team.email"), type="email", key="invite_email")
        role = st.selectbox(say("team.role"), offered, min(1, len(offered) - 1), _role, key="invite_role")
        sent = st.form_submit_button(say("team.invite"), icon=":material/person_add:")
    if sent and email:
        _invite(email, role)
    with sent_before:  # drawn last, to include the invitation just sent
        _open_invitations()


def _open_invitations() -> None:
    for invitation in api().send(accounts.invitations()).items:
        with st.container(horizontal=True, vertical_alignment="center", key=f"invitation_{invitation.id}"):
            until = say("team.until", when=when(invitation.expires_at, "day"))
            facts = f"{named('role', invitation.role)} · {until}"
            st.html(f'{text(invitation.email)} <span class="r-quiet">{text(facts)}</span>')
            if st.button(say("team.withdraw"), key=f"withdraw_{invitation.id}") and act(
                partial(api().send, accounts.withdraw(invitation.id)), say("team.withdrawn")
            ):
                st.rerun()


def _invite(email: str, role: str) -> None:
    try:
        made = api().send(accounts.invite(email, role))
    except ApiError as error:
        problem.show(error)
        return
    email = made.invitation.email
    message = say("team.mailed", email=email) if made.mailed else say("team.hand_over", email=email)
    why = f' <span class="r-quiet">{text(say("team.not_mailed", why=made.mail_problem))}</span>' if made.mail_problem else ""
    st.html(f'<div class="r-note" role="status">{text(message)}{why}</div>')
    link = "/sign-in?" + urlencode({"form": "join", "token": made.token})
    st.code(page_address(link), language=None, wrap_lines=True)


def _keys(who: Me) -> None:
    if may(who, "keys:write"):
        _new_key(who)
    for key in api().send(accounts.keys()).items:
        _key(who, key)


def _new_key(who: Me) -> None:
    with st.expander(say("team.new_key"), icon=":material/key:", type="compact"), st.form("new_key", border=False):
        name = st.text_input(say("team.key_name"), max_chars=100, key="key_name")
        scopes = st.multiselect(
            say("team.scopes"), who.scopes, [s for s in who.scopes if s.startswith("runs:")], key="key_scopes"
        )
        st.html(_explained(who.scopes))
        lasting = st.segmented_control(
            say("team.lasts"),
            list(LASTING),
            default="quarter",
            required=True,
            format_func=lambda v: named("lasting", v),
            key="key_lasts",
        )
        sent = st.form_submit_button(say("team.make_key"), type="primary")
    if sent and name and scopes:
        days = LASTING[lasting or "quarter"]
        ends = datetime.now(UTC) + timedelta(days=days) if days else None
        try:
            made = api().send(accounts.make_key(NewKey(name=name, scopes=scopes, expires_at=ends)))
        except ApiError as error:
            problem.show(error)
            return
        st.html(f'<div class="r-note warn" role="status">{text(say("team.shown_once"))}</div>')
        st.code(made.key, language=None)


def _explained(scopes: Sequence[str]) -> str:
    """Return what each scope allows, a line for each, as HTML."""
    lines = (f"<dt>{text(scope)}</dt><dd>{text(named('scope', scope.replace(':', '_')))}</dd>" for scope in scopes)
    return f'<details class="r-scopes" open><summary>{text(say("team.explained"))}</summary><dl>{"".join(lines)}</dl></details>'


def _key(who: Me, key: KeyInfo) -> None:
    used = say("team.used", when=when(key.last_used_at, "short")) if key.last_used_at else say("team.unused")
    over = key.expires_at is not None and key.expires_at < now()
    until = (
        say("team.expired")
        if over
        else say("team.until", when=when(key.expires_at, "day"))
        if key.expires_at
        else say("team.for_ever")
    )
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"row_key_{key.id}"):
        facts = " · ".join((used, until, ", ".join(key.scopes)))
        st.html(f'<b>{text(key.name)}</b><br><span class="r-quiet">{text(facts)}</span>')
        if (
            may(who, "keys:write")
            and st.button(say("team.revoke"), key=f"revoke_{key.id}")
            and act(lambda: api().send(accounts.revoke_key(key.id)), say("team.revoked"))
        ):
            st.rerun()


main()
