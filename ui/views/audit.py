"""The audit log: who did what, when and from where. It can be filtered, read page by page, and downloaded as a table."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from rubrica_client import ApiError, accounts, organisation
from rubrica_client.models import Action, AuditEntry
from ui.components import list_page, problem
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
        _show_choice("action", tuple(Action), lambda action: say_name("audit_action", action))
        _show_choice("user_id", tuple(people), lambda user: people.get(user, user))
        _show_day("since")
        _show_day("until")
    return {name: value for name in FILTERS if (value := read_query(name))}


def _show_choice(name: str, offered: tuple[str, ...], label_of: Callable[[str], str]) -> None:
    value = read_query(name)
    options = (*offered, value) if value and value not in offered else offered
    place = options.index(value) if value else None
    st.selectbox(
        say(f"audit.{name}"), options, place, format_func=label_of, key=f"audit_{name}", placeholder=say("audit.all"),
        on_change=_write_address, args=(name,), width=220,
    )  # fmt: skip


def _show_day(name: str) -> None:
    try:
        day = date.fromisoformat(read_query(name) or "")
    except ValueError:
        day = None
    st.date_input(
        say(f"audit.{name}"), day, key=f"audit_{name}", format="YYYY-MM-DD", on_change=_write_address, args=(name,), width=150
    )


def _write_address(name: str) -> None:
    """Write what was chosen into the address, and start the log at its newest entry again."""
    st.query_params.pop("before", None)
    chosen = st.session_state[f"audit_{name}"]
    if chosen:
        st.query_params[name] = str(chosen)
    else:
        st.query_params.pop(name, None)


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
