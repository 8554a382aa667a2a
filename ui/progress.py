"""The state of a run as a watcher sees it, built from the event log line by line."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from rubrica_client.models import Citation, ResearchPlan, RunEvent

PLAN = "plan"
REPORT = "report"
GIVEN_UP = "/given_up"
"""The end of the name under which an agent's given-up calls are booked."""


@dataclass(frozen=True)
class WatchedStage:
    """The progress of one stage. `state` is waiting, running, done, partial (stopped early with some result) or failed."""

    id: str
    title: str = ""
    state: str = "waiting"
    doing: RunEvent | None = None
    stop: str = ""
    detail: str = ""
    model_calls: int = 0
    tool_calls: int = 0
    quotes: int = 0
    sources: int = 0


@dataclass(frozen=True)
class SeenSource:
    """A source that a search has found, and how often."""

    url: str
    title: str
    stage: str
    times: int = 1


@dataclass(frozen=True)
class DraftedSection:
    """A section of the report that is being written: its heading, and its text once that is there."""

    heading: str
    markdown: str = ""
    citations: tuple[Citation, ...] = ()


@dataclass
class WatchedProgress:
    """The log so far, summed up. Sources are in order of first appearance; `agents` has the last event of each agent at work.

    `draft` has the sections of the report to be, by their numbers.
    """

    plan: ResearchPlan | None = None
    status: str = "queued"
    detail: str = ""
    stages: dict[str, WatchedStage] = field(default_factory=dict)
    sources: dict[str, SeenSource] = field(default_factory=dict)
    agents: dict[str, RunEvent] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    waiting: RunEvent | None = None
    draft_title: str = ""
    draft: dict[int, DraftedSection] = field(default_factory=dict)
    report: dict[str, int] = field(default_factory=dict)
    worked: timedelta = timedelta()
    working_since: datetime | None = None
    last_at: datetime | None = None

    def working_time_until(self, now: datetime) -> timedelta:
        """Return how long the run has worked, without pauses: this is what a cap on its minutes counts."""
        return self.worked + (max(now - self.working_since, timedelta()) if self.working_since else timedelta())

    @property
    def written(self) -> int:
        """The number of sections that can be read."""
        return sum(bool(section.markdown) for section in self.draft.values())

    def find_stage(self, stage_id: str) -> WatchedStage:
        """Return this stage; one in the state `waiting` if the log has not named it yet."""
        return self.stages.get(stage_id, WatchedStage(stage_id))


def stage_of(agent: str) -> str:
    """Return the stage that an agent's path belongs to: `report` for `report/section/3`, `search/s2` for itself."""
    parts = agent.split("/")
    return "/".join(parts[:2]) if parts[0] == "search" else parts[0]


def fold_events(events: Iterable[RunEvent], onto: WatchedProgress | None = None) -> WatchedProgress:
    """Add events to `onto`, which is changed, or to a new progress, and return it. Unknown kinds of events are ignored."""
    progress = onto or WatchedProgress()
    for event in events:
        progress.last_at = event.at
        _READERS.get(event.type, _ignore_event)(progress, event)
    return progress


def _ignore_event(progress: WatchedProgress, event: RunEvent) -> None:
    """Ignore an event that changes nothing on the page."""


def _read_status(progress: WatchedProgress, event: RunEvent) -> None:
    progress.status = str(event.payload.get("status", progress.status))
    progress.detail = str(event.payload.get("detail") or "")
    progress.waiting = None
    if progress.status != "running":
        progress.agents.clear()
    progress.worked = progress.working_time_until(event.at)
    progress.working_since = event.at if progress.status == "running" else None


def _read_stage_start(progress: WatchedProgress, event: RunEvent) -> None:
    stage_id = str(event.payload.get("stage", event.agent))
    stage = progress.find_stage(stage_id)
    title = str(event.payload.get("title") or stage.title)
    progress.stages[stage_id] = replace(stage, title=title, state="running", doing=None, stop="", detail="")
    progress.agents[event.agent or stage_id] = event


def _read_stage_end(progress: WatchedProgress, event: RunEvent) -> None:
    payload = event.payload
    stage_id = str(payload.get("stage", event.agent))
    stop = str(payload.get("stop") or "")
    quotes, sources, detail = (
        _count_items(payload.get("quotes")),
        _count_items(payload.get("sources")),
        str(payload.get("detail") or ""),
    )
    stage = replace(progress.find_stage(stage_id), doing=None, stop=stop, detail=detail, quotes=quotes, sources=sources)
    progress.stages[stage_id] = replace(stage, state=_choose_end_state(stop, quotes))
    for agent in [path for path in progress.agents if stage_of(path) == stage_id]:
        del progress.agents[agent]


def _choose_end_state(stop: str, quotes: int) -> str:
    if stop in ("", "sufficient"):
        return "done"
    if stop in ("failed", "dropped", "no_evidence"):
        return "failed"
    return "partial" if stop == "budget" and not quotes else "done"


def _count_items(value: object) -> int:
    """Return a count that comes as a number or as the list to be counted."""
    return len(value) if isinstance(value, list) else int(value) if isinstance(value, int) else 0


def _read_plan(progress: WatchedProgress, event: RunEvent) -> None:
    if plan := event.payload.get("plan"):
        progress.plan = ResearchPlan.model_validate(plan, extra="ignore")


def _read_model_call(progress: WatchedProgress, event: RunEvent) -> None:
    stage = progress.find_stage(stage_of(event.agent))
    progress.waiting = None
    progress.agents[event.agent.removesuffix(GIVEN_UP)] = event
    progress.stages[stage.id] = replace(stage, state="running", model_calls=stage.model_calls + 1, doing=event)


def _read_tool_call(progress: WatchedProgress, event: RunEvent) -> None:
    stage = progress.find_stage(stage_of(event.agent))
    progress.agents[event.agent] = event
    progress.stages[stage.id] = replace(stage, state="running", tool_calls=stage.tool_calls + 1, doing=event)
    for source in event.payload.get("sources") or ():
        url, title = str(source.get("url", "")), str(source.get("title", ""))
        seen = progress.sources.get(url)
        progress.sources[url] = replace(seen, times=seen.times + 1) if seen else SeenSource(url, title or url, stage.id)


def _read_wait(progress: WatchedProgress, event: RunEvent) -> None:
    progress.waiting = event


def _read_note(progress: WatchedProgress, event: RunEvent) -> None:
    progress.notes.append(str(event.payload.get("text", "")))


def _read_warning(progress: WatchedProgress, event: RunEvent) -> None:
    progress.warnings.append(str(event.payload.get("message", "")))


def _read_outline(progress: WatchedProgress, event: RunEvent) -> None:
    progress.draft_title = str(event.payload.get("title") or "")
    headings = {int(s["section"]): str(s["heading"]) for s in event.payload.get("sections") or ()}
    progress.draft = {n: progress.draft.get(n, DraftedSection(heading)) for n, heading in headings.items()}


def _read_section(progress: WatchedProgress, event: RunEvent) -> None:
    payload = event.payload
    citations = tuple(Citation.model_validate(cited, extra="ignore") for cited in payload.get("citations") or ())
    progress.draft[int(payload["section"])] = DraftedSection(
        str(payload.get("heading") or ""), str(payload.get("markdown") or ""), citations
    )
    progress.agents.pop(event.agent, None)


def _read_report(progress: WatchedProgress, event: RunEvent) -> None:
    progress.report = {name: _count_items(event.payload.get(name)) for name in ("sections", "citations", "words")}


_READERS = {
    "status_changed": _read_status,
    "stage_started": _read_stage_start,
    "stage_finished": _read_stage_end,
    "plan_made": _read_plan,
    "plan_revised": _read_plan,
    "model_call": _read_model_call,
    "tool_call": _read_tool_call,
    "waiting": _read_wait,
    "note_added": _read_note,
    "warning": _read_warning,
    "outline_made": _read_outline,
    "section_written": _read_section,
    "report_ready": _read_report,
}
