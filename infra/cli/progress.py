"""Fold a run's events into its progress, for a person who waits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from rubrica_client.models import EventType, Run, RunEvent, RunStatus
from rubrica_client.runs import FINISHED

LONGEST_QUERY = 160
"""The characters of a query that are shown. Without a model a second query holds whole sentences of the first one's results."""


class StageState(StrEnum):
    """The state of a stage."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"


@dataclass
class StageLine:
    """One line of the display: the plan, one subtask, or the report."""

    title: str
    state: StageState = StageState.WAITING
    stop: str = ""
    quotes: int = 0
    last: str = ""


@dataclass
class RunProgress:
    """All that the display shows. Only its run's log and end change it, so watching a run again shows the same."""

    status: RunStatus = RunStatus.QUEUED
    detail: str = ""
    reason: str = ""
    question: str = ""
    stages: dict[str, StageLine] = field(default_factory=lambda: {"plan": StageLine("Plan"), "report": StageLine("Report")})
    sources: dict[str, str] = field(default_factory=dict)
    model_calls: int = 0
    tool_calls: int = 0
    tokens: int = 0
    cost_microusd: int = 0
    started_at: datetime | None = None
    last_at: datetime | None = None
    waiting: str = ""
    notices: list[str] = field(default_factory=list)

    def apply(self, event: RunEvent) -> None:
        """Take in one event."""
        self.started_at = self.started_at or event.at
        self.last_at = max(self.last_at or event.at, event.at)  # events that are written at the same time may be out of order
        if event.type in (EventType.MODEL_CALL, EventType.TOOL_CALL, EventType.STAGE_FINISHED):
            self.waiting = ""
        handle = _HANDLERS.get(event.type)
        if handle is not None:
            handle(self, event.agent, event.payload)

    def end_as(self, run: Run) -> None:
        """Take the end from the run itself, where its log does not tell it any more."""
        if self.status not in FINISHED:
            self.status, self.detail, self.reason = run.status, as_one_line(run.detail), run.reason or ""

    @property
    def elapsed_s(self) -> float:
        """Seconds from the run's first event to its last."""
        return (self.last_at - self.started_at).total_seconds() if self.started_at and self.last_at else 0.0

    def stage_of(self, agent: str) -> StageLine | None:
        """Return the stage that an agent's path belongs to: `report/section/3` is part of `report`."""
        parts = agent.split("/")
        return self.stages.get("/".join(parts[:2])) or self.stages.get(parts[0])


def count_nouns(count: int, noun: str) -> str:
    """Return a number with its noun, which takes an s in the plural: "1 source", "1,200 sources"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def as_one_line(text: object) -> str:
    """Return text from a model or a web page on one line, without control characters, which could command a terminal."""
    return " ".join("".join(c if c.isprintable() else " " for c in str(text or "")).split())


def _apply_creation(progress: RunProgress, agent: str, payload: Mapping[str, Any]) -> None:
    progress.question = as_one_line(payload.get("question"))


def _apply_status(progress: RunProgress, agent: str, payload: Mapping[str, Any]) -> None:
    progress.status = RunStatus(payload["status"])
    progress.detail = as_one_line(payload.get("detail"))
    progress.reason = str(payload.get("reason") or "")


def _apply_plan(progress: RunProgress, agent: str, payload: Mapping[str, Any]) -> None:
    """Put the subtasks between plan and report, in the plan's order. Known ones keep their state, dropped ones go."""
    subtasks = payload.get("plan", {}).get("subtasks", [])
    known = progress.stages
    searches = {f"search/{s['id']}": known.get(f"search/{s['id']}", StageLine(as_one_line(s["title"]))) for s in subtasks}
    progress.stages = {"plan": known["plan"], **searches, "report": known["report"]}


def _start_stage(progress: RunProgress, agent: str, payload: Mapping[str, Any]) -> None:
    name = str(payload.get("stage", agent))
    stage = progress.stages.setdefault(name, StageLine(as_one_line(payload.get("title") or name)))
    stage.state = StageState.RUNNING


def _finish_stage(progress: RunProgress, agent: str, payload: Mapping[str, Any]) -> None:
    name = str(payload.get("stage", agent))
    stage = progress.stages.setdefault(name, StageLine(as_one_line(payload.get("title") or name)))
    stage.state = StageState.DONE
    stage.stop = as_one_line(payload.get("stop"))
    stage.quotes = int(payload.get("quotes") or 0)
    stage.last = as_one_line(payload.get("detail"))


def _add_model_call(progress: RunProgress, agent: str, payload: Mapping[str, Any]) -> None:
    progress.model_calls += 1
    progress.tokens += int(payload.get("input_tokens") or 0) + int(payload.get("output_tokens") or 0)
    progress.cost_microusd += int(payload.get("cost_microusd") or 0)
    if stage := progress.stage_of(agent):
        stage.last = as_one_line(payload.get("step"))


def _add_tool_call(progress: RunProgress, agent: str, payload: Mapping[str, Any]) -> None:
    progress.tool_calls += 1
    for source in payload.get("sources") or []:
        progress.sources.setdefault(str(source.get("url")), as_one_line(source.get("title")))
    if stage := progress.stage_of(agent):
        what = _shorten_query(as_one_line(payload.get("query"))) or as_one_line(payload.get("url"))
        tool = as_one_line(payload.get("tool", "tool"))
        stage.last = f"{tool}: {what}" if what else tool


def _shorten_query(query: str) -> str:
    return query if len(query) <= LONGEST_QUERY else query[:LONGEST_QUERY].rstrip() + " …"


def _set_waiting(progress: RunProgress, agent: str, payload: Mapping[str, Any]) -> None:
    left = f"{float(payload.get('retry_in_s') or 0):.0f} s"
    following = f"asked once more after {left} more" if payload.get("silent_s") else f"next try in {left}"
    progress.waiting = f"{payload.get('detail') or payload.get('what')}; {following}"
    if payload.get("options"):
        progress.waiting += " (or pause it, then `runs resume` with --finish for a report without the model)"


def _add_notice(progress: RunProgress, agent: str, payload: Mapping[str, Any]) -> None:
    progress.notices.append(as_one_line(payload.get("message")))


_HANDLERS = {
    EventType.RUN_CREATED: _apply_creation,
    EventType.STATUS_CHANGED: _apply_status,
    EventType.PLAN_MADE: _apply_plan,
    EventType.PLAN_REVISED: _apply_plan,
    EventType.STAGE_STARTED: _start_stage,
    EventType.STAGE_FINISHED: _finish_stage,
    EventType.MODEL_CALL: _add_model_call,
    EventType.TOOL_CALL: _add_tool_call,
    EventType.WAITING: _set_waiting,
    EventType.WARNING: _add_notice,
}
