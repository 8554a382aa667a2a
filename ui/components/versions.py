"""The versions of a report: what changed between them, what each change cost, and the way back to an older one."""

import streamlit as st

from rubrica_client import Client, reports
from rubrica_client.models import ReportDiff, Run, Usage, VersionInfo
from ui.components.controls import send_command
from ui.components.markup import escape
from ui.facts import count_tokens
from ui.language import say, say_name, say_time
from ui.number_format import format_count, format_money
from ui.session import may


def show(client: Client, run: Run) -> None:
    """Draw the versions, newest first. Older ones can be compared with the newest and restored."""
    stored = client.send(reports.versions(run.id)).items
    if len(stored) < 2:
        st.html(f'<p class="r-quiet">{escape(say("versions.one"))}</p>')
        return
    newest = stored[0].n
    for version in stored:
        _show_version(client, run, version, newest)


def _show_version(client: Client, run: Run, version: VersionInfo, newest: int) -> None:
    with st.container(key=f"version_{version.n}", gap="xsmall"):
        name = f"{say('versions.n', n=version.n)} · {say_name('origin', version.origin)}"
        cost = f"<br>{escape(describe_cost(version.usage))}" if count_tokens(version.usage) else ""
        note = (f"<br>{escape(version.note)}" if version.note else "") + cost
        st.html(f'<b>{escape(name)}</b> <span class="r-quiet">{escape(say_time(version.created_at, "short"))}{note}</span>')
        if version.n == newest:
            return
        with st.container(horizontal=True):
            if st.button(say("versions.diff"), key=f"diff_{version.n}"):
                st.dialog(say("versions.diff"), width="large")(show_diff)(client, run, version.n, newest)
            if (
                may("reports:write")
                and st.button(say("versions.back"), key=f"back_{version.n}")
                and send_command(lambda: client.send(reports.revert(run.id, version.n, newest)), say("versions.done"))
            ):
                st.rerun()


def describe_cost(usage: Usage) -> str:
    """Return what a change cost, in words."""
    tokens = count_tokens(usage)
    return (
        say("change.spent", tokens=format_count(tokens), cost=format_money(usage.cost_microusd)) if tokens else say("change.free")
    )


def show_diff(client: Client, run: Run, old: int, new: int) -> None:
    """Draw what changed from one version to the other."""
    st.html(diff_html(client.send(reports.diff(run.id, old, new))))


def diff_html(diff: ReportDiff) -> str:
    """Return the changed sections as HTML, with added and removed words marked."""
    marks = {"added": "ins", "removed": "del"}
    parts = []
    for section in diff.sections:
        if section.change == "same":
            continue
        words = "".join(
            f"<{marks[w.change]}>{escape(w.text)}</{marks[w.change]}>" if w.change in marks else escape(w.text)
            for w in section.words
        )
        parts.append(f'<h3>{escape(section.heading or section.old_heading)}</h3><div class="r-diff">{words}</div>')
    return "".join(parts) or f'<p class="r-quiet">{escape(say("versions.same"))}</p>'
