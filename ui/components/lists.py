"""Sources as they arrive, and the event log."""

from collections.abc import Sequence

from ui.components.markup import host, link, text
from ui.models import Event
from ui.progress import Progress, SeenSource
from ui.wording import plural, sentence

LONGEST_LOG = 400


def sources_html(progress: Progress) -> str:
    """Every source a search has brought up, the newest first."""
    if not progress.sources:
        return '<p class="r-quiet">Sources appear here as the searches bring them up.</p>'
    items = "".join(_source(source) for source in reversed(progress.sources.values()))
    return f'<ul class="r-list r-scroll">{items}</ul>'


def _source(source: SeenSource) -> str:
    often = f" · came up {plural(source.times, 'time')}" if source.times > 1 else ""
    return f"<li>{link(source.url, source.title)}<br><small>{text(host(source.url))}{often}</small></li>"


def log_html(events: Sequence[Event]) -> str:
    """The log, newest first: when, which agent, what happened."""
    items = "".join(_line(event) for event in reversed(events[-LONGEST_LOG:]))
    count = plural(len(events), "event")
    return f'<div class="r-quiet">{count}</div><ul class="r-list r-log r-scroll">{items}</ul>'


def _line(event: Event) -> str:
    agent = f'<span class="r-chip">{text(event.agent)}</span> ' if event.agent else ""
    return f'<li><span title="event {event.seq}">{event.at:%H:%M:%S}</span><div>{agent}{text(sentence(event))}</div></li>'


def notices_html(progress: Progress) -> str:
    """What a watcher should not miss: a wait, warnings, and the notes already given."""
    parts = []
    if progress.waiting:
        calm = "Nothing is lost; the run goes on by itself."
        parts.append(f'<div class="r-note warn"><strong>Waiting</strong>{text(progress.waiting)}. {calm}</div>')
    parts += [f'<div class="r-note warn">{text(warning)}</div>' for warning in progress.warnings[-3:]]
    return "".join(parts)
