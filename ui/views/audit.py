"""The audit log: who did what, when and from where. It can be filtered, read page by page, and downloaded as a table."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from rubrica_client import ApiError, accounts, organisation
from rubrica_client.models import Action, AuditEntry
from ui.components import list_filters, list_page, problem
from ui.components.markup import escape, hero_html
from ui.language import say, say_name, say_time
from ui.session import get_api, get_me, read_query

PAGE = "views/audit.py"
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
FILTERS = ("action", "user_id", "since", "until")


def main() -> None:
    """Show the part of the log that the address asks for."""
    st.html(hero_html(say("audit.title"), say("audit.lead")))
    try:
        people = {member.user_id: member.email for member in get_api().send(accounts.members()).items} if get_me() else {}
        wanted = _ask_filters(people)
        page = get_api().send(organisation.audit(**wanted, before=read_query("before")))
    except ApiError as error:
        problem.show(error)
        return
    st.html(_table_html(page.items, people) if page.items else f'<p class="r-quiet">{escape(say("audit.none"))}</p>')
    with st.container(horizontal=True, vertical_alignment="center"):
        list_page.link_older(PAGE, page.next, **wanted)
        st.download_button(
            say("audit.export"),
            partial(get_api().send, organisation.audit_table(**wanted)),
            "audit-log.csv",
            "text/csv",
            key="audit_export",
            icon=":material/download:",
            on_click="ignore",
        )


def _ask_filters(people: Mapping[str, str]) -> dict[str, Any]:
    """Draw the filters, and return their values, which are in the address too."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        list_filters.show_choice(
            "audit", "action", say("audit.action"), tuple(Action), lambda action: say_name("audit_action", action)
        )
        list_filters.show_choice("audit", "user_id", say("audit.user_id"), tuple(people), lambda user: people.get(user, user))
        list_filters.show_day("audit", "since", say("audit.since"))
        list_filters.show_day("audit", "until", say("audit.until"))
    return {name: value for name in FILTERS if (value := read_query(name))}


def _table_html(entries: Sequence[AuditEntry], people: Mapping[str, str]) -> str:
    heads = "".join(f"<th>{escape(say(f'audit.{key}'))}</th>" for key in ("at", "user_id", "action", "subject", "from_where"))
    rows = "".join(_row_html(entry, people) for entry in entries)
    return f'<div class="r-wide"><table class="r-table"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'


def _row_html(entry: AuditEntry, people: Mapping[str, str]) -> str:
    detail = "".join(f" · {escape(name)}: {escape(value)}" for name, value in entry.detail.items())
    subject = f"{_subject_html(entry.subject, people)}{detail}".strip(" ·")
    who = entry.email or (entry.user_id or "")[:8] or say("audit.nobody")
    key = f'<br><span class="r-quiet">{escape(say("audit.by_key", start=entry.key_id[:8]))}</span>' if entry.key_id else ""
    cells = (
        escape(f"{say_time(entry.at, 'day')} {say_time(entry.at, 'second')}"),
        f"{escape(who)}{key}",
        escape(say_name("audit_action", entry.action)),
        subject,
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in (*cells, escape(entry.address))) + "</tr>"


def _subject_html(subject: str, people: Mapping[str, str]) -> str:
    """Return a subject as HTML: a person by e-mail address, another identifier by its beginning, with the whole as a tooltip."""
    if subject in people or not ID.fullmatch(subject):
        return escape(people.get(subject, subject))
    return f'<span title="{escape(subject)}">{escape(subject[:8])}…</span>'


main()
