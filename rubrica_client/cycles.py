"""Cycles of retraining, for the organisation that operates the deployment: plans, how each cycle stands, and its steering."""

from rubrica_client.models import (
    ActReason,
    CycleDetail,
    CycleEventList,
    CyclePage,
    CycleStop,
    CycleView,
    ScheduledPlanList,
    StepApproval,
)
from rubrica_client.request import Request

REGISTRY = ("v1", "registry")
CYCLES = (*REGISTRY, "cycles")


def plans() -> Request[ScheduledPlanList]:
    """List the scheduled plans: when the next cycle of each starts, and what it lacks by an estimate."""
    return Request("GET", (*REGISTRY, "plans"), ScheduledPlanList)


def start(plan: str, why: ActReason) -> Request[CycleView]:
    """Start a cycle of a scheduled plan now."""
    return Request("POST", (*REGISTRY, "plans", plan, "start"), CycleView, body=why).with_key()


def list_(limit: int | None = None, before: str | None = None) -> Request[CyclePage]:
    """List cycles, newest first."""
    return Request("GET", CYCLES, CyclePage, query={"limit": limit, "before": before})


def get(cycle_id: str) -> Request[CycleDetail]:
    """Return a cycle with the outcomes of its steps, and what they wrote for people."""
    return Request("GET", (*CYCLES, cycle_id), CycleDetail)


def events(cycle_id: str, after: int | None = None, limit: int | None = None) -> Request[CycleEventList]:
    """List what happened in a cycle, in its order."""
    return Request("GET", (*CYCLES, cycle_id, "events"), CycleEventList, query={"after": after, "limit": limit})


def approve(cycle_id: str, approval: StepApproval) -> Request[CycleView]:
    """Agree to a step that waits for a person."""
    return Request("POST", (*CYCLES, cycle_id, "approve"), CycleView, body=approval).with_key()


def pause(cycle_id: str, why: ActReason) -> Request[CycleView]:
    """End the step in hand, which saves what it has, until the cycle goes on."""
    return Request("POST", (*CYCLES, cycle_id, "pause"), CycleView, body=why).with_key()


def go(cycle_id: str, why: ActReason) -> Request[CycleView]:
    """Let a paused cycle go on."""
    return Request("POST", (*CYCLES, cycle_id, "go"), CycleView, body=why).with_key()


def stop(cycle_id: str, stop: CycleStop) -> Request[CycleView]:
    """End a cycle for good, at once or after the step in hand."""
    return Request("POST", (*CYCLES, cycle_id, "stop"), CycleView, body=stop).with_key()
