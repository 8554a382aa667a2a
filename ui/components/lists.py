"""Lists on the page of a run: agents at work, sources as they arrive, and the event log."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from rubrica_client.models import RunEvent
from ui.components.markup import host, link, text
from ui.figures import clock
from ui.language import count, named, say, when
from ui.progress import Progress, SeenSource, stage_of
from ui.sentences import action, sentence

LONGEST_LOG = 300
MOST_SOURCES = 150
MOST_AGENTS = 8


def agents_html(progress: Progress, now: datetime) -> str:
    """Return the agents at work as HTML, each with its task and its time; the one that has worked longest comes first."""
    if not progress.agents:
        return ""
    at_work = sorted(progress.agents.items(), key=lambda item: item[1].seq)
    items = "".join(_agent(_name(path, progress), event, now) for path, event in at_work[:MOST_AGENTS])
    more = len(at_work) - MOST_AGENTS
    rest = f'<li class="r-quiet">{text(say("watch.more_agents", agents=count("agent", more)))}</li>' if more > 0 else ""
    return f'<ul class="r-list r-agents" aria-label="{text(say("watch.agents"))}">{items}{rest}</ul>'


def _name(path: str, progress: Progress) -> str:
    """Return what an agent works on: the title of its subtask, or the name of its stage."""
    titles = {f"search/{subtask.id}": subtask.title for subtask in progress.plan.subtasks} if progress.plan else {}
    stage = stage_of(path)
    return titles.get(stage) or named("agent", stage) if stage == path or stage in titles else path


def _agent(name: str, event: RunEvent, now: datetime) -> str:
    doing = sentence(event) if event.type == "stage_started" else action(event)
    took = clock(max(now - event.at, timedelta()))
    return f'<li><b>{text(name)}</b><time>{took}</time><span title="{text(doing)}">{text(doing)}</span></li>'


def sources_html(progress: Progress) -> str:
    """Return the sources that searches have found as HTML, newest first."""
    if not progress.sources:
        return f'<p class="r-quiet">{text(say("watch.no_sources"))}</p>'
    newest = list(progress.sources.values())[-MOST_SOURCES:]
    items = "".join(_source(source) for source in reversed(newest))
    return _counted(count("source", len(progress.sources)), items)


def _source(source: SeenSource) -> str:
    often = f" · {count('time', source.times)}" if source.times > 1 else ""
    return f"<li>{link(source.url, source.title)}<br><small>{text(host(source.url))}{text(often)}</small></li>"


def log_html(events: Sequence[RunEvent]) -> str:
    """Return the log as HTML, newest first: the time, the agent, and what happened."""
    items = "".join(_line(event) for event in reversed(events[-LONGEST_LOG:]))
    return _counted(count("event", len(events)), items, "r-log")


def _counted(all_of_them: str, items: str, kind: str = "") -> str:
    """Return a list under its count as HTML. It scrolls by itself, also with the keyboard."""
    return f'<div class="r-quiet">{text(all_of_them)}</div><ul class="r-list r-scroll {kind}" tabindex="0">{items}</ul>'


def _line(event: RunEvent) -> str:
    agent = f'<span class="r-chip">{text(event.agent)}</span> ' if event.agent else ""
    number = text(say("watch.event", n=event.seq))
    return f'<li><span title="{number}">{when(event.at, "second")}</span><div>{agent}{text(sentence(event))}</div></li>'


def notices_html(progress: Progress) -> str:
    """Return what a watcher should not miss as HTML: a wait, and the latest warnings."""
    parts = []
    if progress.waiting:
        payload = progress.waiting.payload
        detail, seconds = payload.get("detail") or payload.get("what", ""), float(payload.get("retry_in_s", 0))
        message = say("watch.waiting_for", detail=detail, seconds=f"{seconds:.0f}")
        parts.append(f'<div class="r-note warn" role="status"><strong>{text(say("watch.waiting"))}</strong>{text(message)}</div>')
    parts += [f'<div class="r-note warn">{text(warning)}</div>' for warning in progress.warnings[-3:]]
    return "".join(parts)
