"""What a watcher sees: a reading of the event log, folded from its first line each time."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ui.models import Event, Plan
from ui.wording import action

PLAN = "plan"
REPORT = "report"


@dataclass(frozen=True)
class Stage:
    """How far one stage is. `state` is waiting, running, done, partial (stopped early with something in hand) or failed."""

    id: str
    title: str = ""
    state: str = "waiting"
    doing: str = ""
    stop: str = ""
    detail: str = ""
    model_calls: int = 0
    tool_calls: int = 0
    quotes: int = 0
    sources: int = 0


@dataclass(frozen=True)
class SeenSource:
    """A source some search brought up, and how often."""

    url: str
    title: str
    stage: str
    times: int = 1


@dataclass
class Progress:
    """All that the log tells so far. Sources are in order of first appearance."""

    plan: Plan | None = None
    status: str = "queued"
    detail: str = ""
    stages: dict[str, Stage] = field(default_factory=dict)
    sources: dict[str, SeenSource] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    waiting: str = ""
    report: dict[str, int] = field(default_factory=dict)
    worked: timedelta = timedelta()
    working_since: datetime | None = None

    def working_time(self, now: datetime) -> timedelta:
        """How long the run has been at work, pauses left out: what a cap on its minutes counts."""
        return self.worked + (max(now - self.working_since, timedelta()) if self.working_since else timedelta())

    def stage(self, stage_id: str) -> Stage:
        """This stage, in the state `waiting` while the log has not named it."""
        return self.stages.get(stage_id, Stage(stage_id))


def stage_of(agent: str) -> str:
    """The stage an agent path belongs to: `report/section/3` to `report`, `search/s2` to itself."""
    parts = agent.split("/")
    return "/".join(parts[:2]) if parts[0] == "search" else parts[0]


def fold(events: Iterable[Event]) -> Progress:
    """Read the log from its beginning. Unknown kinds of events are passed over."""
    progress = Progress()
    for event in events:
        _READERS.get(event.type, _nothing)(progress, event)
    return progress


def _nothing(progress: Progress, event: Event) -> None:
    """Some events change nothing that is shown."""


def _status(progress: Progress, event: Event) -> None:
    progress.status = str(event.payload.get("status", progress.status))
    progress.detail = str(event.payload.get("detail") or "")
    progress.waiting = ""
    progress.worked = progress.working_time(event.at)
    progress.working_since = event.at if progress.status == "running" else None


def _started(progress: Progress, event: Event) -> None:
    stage_id = str(event.payload.get("stage", event.agent))
    stage = progress.stage(stage_id)
    title = str(event.payload.get("title") or stage.title)
    progress.stages[stage_id] = replace(stage, title=title, state="running", doing="", stop="", detail="")


def _finished(progress: Progress, event: Event) -> None:
    payload = event.payload
    stage_id = str(payload.get("stage", event.agent))
    stop = str(payload.get("stop") or "")
    quotes, sources, detail = _count(payload.get("quotes")), _count(payload.get("sources")), str(payload.get("detail") or "")
    stage = replace(progress.stage(stage_id), doing="", stop=stop, detail=detail, quotes=quotes, sources=sources)
    progress.stages[stage_id] = replace(stage, state=_ending(stop, quotes))


def _ending(stop: str, quotes: int) -> str:
    if stop in ("", "sufficient"):
        return "done"
    if stop in ("failed", "dropped", "no_evidence"):
        return "failed"
    return "partial" if stop == "budget" and not quotes else "done"


def _count(value: object) -> int:
    """A count may come as a number or as the list that was counted."""
    return len(value) if isinstance(value, list) else int(value) if isinstance(value, int) else 0


def _plan(progress: Progress, event: Event) -> None:
    progress.plan = Plan.model_validate(event.payload.get("plan") or {})


def _model_call(progress: Progress, event: Event) -> None:
    stage = progress.stage(stage_of(event.agent))
    progress.waiting = ""
    progress.stages[stage.id] = replace(stage, state="running", model_calls=stage.model_calls + 1, doing=action(event))


def _tool_call(progress: Progress, event: Event) -> None:
    stage = progress.stage(stage_of(event.agent))
    progress.stages[stage.id] = replace(stage, state="running", tool_calls=stage.tool_calls + 1, doing=action(event))
    for source in event.payload.get("sources") or ():
        url, title = str(source.get("url", "")), str(source.get("title", ""))
        seen = progress.sources.get(url)
        progress.sources[url] = replace(seen, times=seen.times + 1) if seen else SeenSource(url, title or url, stage.id)


def _waiting(progress: Progress, event: Event) -> None:
    seconds = event.payload.get("retry_in_s", 0)
    progress.waiting = f"{event.payload.get('detail') or event.payload.get('what', '')} (next try in {float(seconds):.0f} s)"


def _note(progress: Progress, event: Event) -> None:
    progress.notes.append(str(event.payload.get("text", "")))


def _warning(progress: Progress, event: Event) -> None:
    progress.warnings.append(str(event.payload.get("message", "")))


def _report(progress: Progress, event: Event) -> None:
    progress.report = {name: _count(event.payload.get(name)) for name in ("sections", "citations", "words")}


_READERS = {
    "status_changed": _status,
    "stage_started": _started,
    "stage_finished": _finished,
    "plan_made": _plan,
    "plan_revised": _plan,
    "model_call": _model_call,
    "tool_call": _tool_call,
    "waiting": _waiting,
    "note_added": _note,
    "warning": _warning,
    "report_ready": _report,
}
