"""Lists on the page of a run: agents at work, sources as they arrive, and the event log."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from rubrica_client.models import RunEvent
from ui.agent_names import name_agent
from ui.components.markup import escape, link_html, site_of
from ui.components.run_list import shorten_question
from ui.language import say, say_count, say_time
from ui.number_format import format_elapsed
from ui.progress import SeenSource, WatchedProgress
from ui.sentences import action_of, line_of

LONGEST_LOG = 300
MOST_SOURCES = 150
MOST_AGENTS = 8
LONGEST_NOTICE = 80


def agents_html(progress: WatchedProgress, now: datetime) -> str:
    """Return the agents at work as HTML, each with its task and its time; the one that has worked longest comes first."""
    if not progress.agents:
        return ""
    at_work = sorted(progress.agents.items(), key=lambda item: item[1].seq)
    items = "".join(_agent_html(name_agent(path, progress), event, now) for path, event in at_work[:MOST_AGENTS])
    more = len(at_work) - MOST_AGENTS
    rest = f'<li class="r-quiet">{escape(say("watch.more_agents", agents=say_count("agent", more)))}</li>' if more > 0 else ""
    return f'<ul class="r-list r-agents" aria-label="{escape(say("watch.agents"))}">{items}{rest}</ul>'


def _agent_html(name: str, event: RunEvent, now: datetime) -> str:
    doing = say("log.started") if event.type == "stage_started" else action_of(event)
    took = format_elapsed(max(now - event.at, timedelta()))
    return f'<li><b>{escape(name)}</b><time>{took}</time><span title="{escape(doing)}">{escape(doing)}</span></li>'


def seen_sources_html(progress: WatchedProgress) -> str:
    """Return the sources that searches have found as HTML, newest first."""
    if not progress.sources:
        return f'<p class="r-quiet">{escape(say("watch.no_sources"))}</p>'
    newest = list(progress.sources.values())[-MOST_SOURCES:]
    items = "".join(_source_html(source) for source in reversed(newest))
    return _counted_list_html(say_count("source", len(progress.sources)), items)


def _source_html(source: SeenSource) -> str:
    often = f" · {say_count('time', source.times)}" if source.times > 1 else ""
    return f"<li>{link_html(source.url, source.title)}<br><small>{escape(site_of(source.url))}{escape(often)}</small></li>"


def log_html(events: Sequence[RunEvent], progress: WatchedProgress) -> str:
    """Return the log as HTML, newest first: the time, the agent, and what happened."""
    items = "".join(_line_html(event, progress) for event in reversed(events[-LONGEST_LOG:]))
    return _counted_list_html(say_count("event", len(events)), items, "r-log")


def _counted_list_html(all_of_them: str, items: str, kind: str = "") -> str:
    """Return a list under its count as HTML. It scrolls by itself, also with the keyboard."""
    return f'<div class="r-quiet">{escape(all_of_them)}</div><ul class="r-list r-scroll {kind}" tabindex="0">{items}</ul>'


def _line_html(event: RunEvent, progress: WatchedProgress) -> str:
    agent = f'<span class="r-chip">{escape(name_agent(event.agent, progress))}</span> ' if event.agent else ""
    number = escape(say("watch.event", n=event.seq))
    return f'<li><span title="{number}">{say_time(event.at, "second")}</span><div>{agent}{escape(line_of(event))}</div></li>'


def notices_html(progress: WatchedProgress) -> str:
    """Return what a watcher should not miss as HTML: a wait, and the warnings, folded into the line of the latest."""
    parts = []
    if progress.waiting:
        payload = progress.waiting.payload
        detail, seconds = payload.get("detail") or payload.get("what", ""), float(payload.get("retry_in_s", 0))
        if payload.get("options"):
            message = say("watch.waiting_long", detail=detail, minutes=f"{seconds / 60:.0f}")
        elif payload.get("silent_s"):
            message = say("watch.silent", silent=f"{payload['silent_s']:.0f}", seconds=f"{seconds:.0f}")
        else:
            message = say("watch.waiting_for", detail=detail, seconds=f"{seconds:.0f}")
        parts.append(
            f'<div class="r-note warn" role="status"><strong>{escape(say("watch.waiting"))}</strong>{escape(message)}</div>'
        )
    return "".join(parts) + _folded_warnings_html(progress.warnings)


def _folded_warnings_html(warnings: Sequence[str]) -> str:
    if not warnings:
        return ""
    line = shorten_question(warnings[-1], LONGEST_NOTICE) + (f" (+{len(warnings) - 1})" if len(warnings) > 1 else "")
    notes = "".join(f'<div class="r-note warn">{escape(warning)}</div>' for warning in reversed(warnings))
    return f'<details class="r-notices"><summary>{escape(line)}</summary>{notes}</details>'
