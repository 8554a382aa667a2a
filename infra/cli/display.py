"""Show live progress: a table that redraws on a terminal, one line for each event elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from infra.cli.progress import RunProgress, StageLine, StageState, as_one_line, count_nouns
from infra.cli.safe_output import find_terminal
from rubrica_client.models import EventType, RunEvent

if TYPE_CHECKING:
    from rich.console import RenderableType

_MARKS = {StageState.WAITING: "·", StageState.RUNNING: "▸", StageState.DONE: "✓"}
_STYLES = {StageState.WAITING: "dim", StageState.RUNNING: "bold", StageState.DONE: "green"}
_REDRAWS_PER_SECOND = 4
_WIDEST_DETAIL = 60


class RunDisplay(Protocol):
    """A display of a run as it goes."""

    def show(self, progress: RunProgress, event: RunEvent) -> None:
        """Show the progress after an event."""
        ...

    def close(self) -> None:
        """Give the screen back."""
        ...


def open_display(run_id: str, quiet: bool = False) -> RunDisplay:
    """Return the display that suits standard output."""
    return LiveTable(run_id) if sys.stdout.isatty() and not quiet else PlainLines(print)


class PlainLines:
    """A display for pipes, logs and continuous integration."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def show(self, progress: RunProgress, event: RunEvent) -> None:
        """Write one line for each event that matters to a person."""
        if text := describe_event(progress, event):
            self._write(f"[{progress.elapsed_s:6.1f} s] {text}")

    def close(self) -> None:
        """Do nothing: lines hold no screen."""


class LiveTable:
    """A display for terminals. It redraws by itself, so that the clock runs between events."""

    def __init__(self, run_id: str) -> None:
        from rich.console import Console
        from rich.live import Live

        self._run_id = run_id
        self._begun = time.monotonic()
        self._progress = RunProgress()
        self._live = Live(
            get_renderable=self._render, refresh_per_second=_REDRAWS_PER_SECOND, console=Console(file=find_terminal())
        )
        self._live.start()

    def show(self, progress: RunProgress, event: RunEvent) -> None:
        """Store the progress for the next redraw."""
        self._progress = progress

    def close(self) -> None:
        """Draw once more and give the terminal back."""
        self._live.stop()

    def _render(self) -> "RenderableType":
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        progress = self._progress
        table = Table.grid(padding=(0, 1))
        table.add_column(width=1)
        table.add_column(ratio=2, overflow="ellipsis", no_wrap=True)
        table.add_column(ratio=3, overflow="ellipsis", no_wrap=True, style="dim")
        for stage in progress.stages.values():
            mark = _MARKS[stage.state]
            table.add_row(mark, Text(stage.title, style=_STYLES[stage.state]), Text(_describe_stage(stage)))
        elapsed = max(time.monotonic() - self._begun, progress.elapsed_s)
        lines: list[RenderableType] = [
            Text(progress.question or self._run_id, style="bold", overflow="ellipsis", no_wrap=True),
            table,
        ]
        lines.append(Text(f"{progress.status.value} · {_describe_use(progress)} · {_format_clock(elapsed)}"))
        if progress.waiting:
            lines.append(Text(f"waiting: {progress.waiting}", style="yellow"))
        lines += [Text(f"note: {notice}", style="yellow") for notice in progress.notices[-3:]]
        return Group(*lines)


def describe_event(progress: RunProgress, event: RunEvent) -> str:
    """Return a line for an event that matters to a person, else nothing. `progress` has taken the event in."""
    payload = event.payload
    stage = progress.stage_of(str(payload.get("stage") or event.agent))
    title = stage.title if stage else event.agent
    match event.type:
        case EventType.STATUS_CHANGED:
            return f"{progress.status.value} {progress.detail}".strip()
        case EventType.PLAN_MADE | EventType.PLAN_REVISED:
            subtasks = [s.title for name, s in progress.stages.items() if name.startswith("search/")]
            return f"plan: {count_nouns(len(subtasks), 'subtask')}" + "".join(f"\n             - {title}" for title in subtasks)
        case EventType.STAGE_STARTED:
            return f"{title}: started"
        case EventType.STAGE_FINISHED:
            return f"{title}: done, {_describe_stage(stage) if stage else ''}  ({_describe_use(progress)})"
        case EventType.TOOL_CALL:
            error = payload.get("error")
            if compared := payload.get("compare"):
                return f"{title}: compared {count_nouns(int(compared), 'text')} with the question by meaning"
            if rated := payload.get("rate"):
                return f"{title}: rated how well {count_nouns(int(rated), 'text')} answer the question"
            found = f"failed: {as_one_line(error)}" if error else count_nouns(int(payload.get("results") or 0), "result")
            return f"{title}: {stage.last if stage else ''} -> {found}"
        case EventType.WAITING:
            return f"waiting: {progress.waiting}"
        case EventType.WARNING:
            return f"note: {progress.notices[-1]}"
        case EventType.NOTE_ADDED:
            return f"a note was added: {as_one_line(payload.get('text'))}"
        case EventType.OUTLINE_MADE:
            return f"{title}: {count_nouns(len(payload.get('sections') or ()), 'section')} to write"
        case EventType.SECTION_WRITTEN:
            return f"{title}: section {payload.get('section')} is written, {as_one_line(payload.get('heading'))}"
        case EventType.REPORT_READY:
            counts = ", ".join(count_nouns(int(payload.get(f"{noun}s") or 0), noun) for noun in ("section", "citation", "word"))
            return f"report: {counts}"
        case _:
            return ""


def _describe_stage(stage: StageLine) -> str:
    if stage.state is StageState.DONE:
        parts = [count_nouns(stage.quotes, "quote") if stage.quotes else "", stage.stop.replace("_", " "), stage.last]
        return ", ".join(part for part in parts if part)
    return stage.last[:_WIDEST_DETAIL]


def _describe_use(progress: RunProgress) -> str:
    cost = f"US$ {progress.cost_microusd / 1e6:.4f}"
    calls = f"{progress.model_calls} model and {count_nouns(progress.tool_calls, 'tool call')}"
    return f"{count_nouns(len(progress.sources), 'source')} · {calls} · {count_nouns(progress.tokens, 'token')} · {cost}"


def _format_clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"
