"""The log of a cycle of training, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from rubrica_client import cycles
from rubrica_client.models import CycleEventView, CycleView
from ui.components.markup import escape
from ui.language import say, say_name, say_time
from ui.session import get_api

TOLD_ELSEWHERE = ("figures", "step", "caps")
NOTHING: tuple[object, ...] = ("", None, 0, {}, [])
SCHEDULE = "schedule"


def list_last(cycle: CycleView, most: int) -> Sequence[CycleEventView]:
    """Return the last lines of a cycle's log, the newest first."""
    return get_api().send(cycles.events(cycle.id, after=max(0, cycle.last_seq - most))).items[::-1]


def log_html(events: Sequence[CycleEventView]) -> str:
    """Return lines of a log as a list."""
    lines = "".join(
        f'<li>{escape(tell_event(event))} <span class="r-quiet">{escape(say_time(event.at, "short"))}</span></li>'
        for event in events
    )
    return f'<ul class="r-list">{lines}</ul>'


def name_asker(asked_by: str) -> str:
    """Return who asked for a cycle, in words: a person's address, or its schedule."""
    return say("cycles.schedule") if asked_by == SCHEDULE else asked_by


def name_step(step: str) -> str:
    """Return a step's name in words: `rubric.train` is the training of the stage `rubric`."""
    stage, _, kind = step.rpartition(".")
    named = say_name("cycle_step", kind)
    return say("cycles.of_stage", stage=stage, what=named) if stage else named


def tell_event(event: CycleEventView) -> str:
    """Return a line of a log in words."""
    told = event.payload
    if "wish" in told:
        what = say_name("cycle_act", str(told["wish"]))
        return say("cycles.said", by=told.get("by", ""), what=what, why=told.get("why", ""))
    if "approved" in told:
        what = say("cycles.agreed", step=name_step(str(told["approved"])))
        return say("cycles.said", by=told.get("by", ""), what=what, why=told.get("why", ""))
    if "state" in told:
        return _join(say_name("cycle_state", str(told["state"])), str(told.get("detail", "")))
    what = say_name("cycle_event", event.type)
    if told.get("step"):
        what = say("cycles.of_step", step=name_step(str(told["step"])), what=what)
    return _join(what, _tell_rest(told))


def _join(what: str, more: str) -> str:
    return say("cycles.happened", what=what, more=more) if more else what


def _tell_rest(told: Mapping[str, Any]) -> str:
    shown = {name: value for name, value in told.items() if name not in TOLD_ELSEWHERE and value not in NOTHING}
    if "verdict" in shown:
        shown["verdict"] = say_name("step_verdict", str(shown["verdict"]))
    if "asked_by" in shown:
        shown["asked_by"] = name_asker(str(shown["asked_by"]))
    return say("log.comma").join(f"{say_name('measured', name)} {value}" for name, value in shown.items())
