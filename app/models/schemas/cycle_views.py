"""Cycles of retraining as the API tells them."""

from app.domain.retraining import CycleEvent, TakenStep
from app.models.schemas.cycle_bodies import (
    CycleDetail,
    CycleEventView,
    CycleStepView,
    CycleView,
    PlanNeedView,
    ScheduledPlanView,
    StepPaperView,
)
from app.models.service.cycle_standing import CycleStanding
from app.models.service.cycles import WatchedCycle
from app.models.service.plan_needs import PlanNeed
from app.models.service.scheduled_plans import ScheduledPlan


def view_cycle(standing: CycleStanding) -> CycleView:
    """Return how a cycle stands."""
    cycle = standing.cycle
    kept = cycle.model_dump(include=set(CycleView.model_fields) - {"plan"})
    return CycleView(
        **kept, plan=cycle.plan.name, step=standing.step, stage=standing.stage, since=standing.since, asks=standing.asks
    )


def view_watched(watched: WatchedCycle) -> CycleDetail:
    """Return a cycle with its steps and papers."""
    plan = watched.standing.cycle.plan
    return CycleDetail(
        cycle=view_cycle(watched.standing),
        approve=list(plan.approve),
        cap_usd=plan.caps.usd,
        cap_device_hours=plan.caps.device_hours,
        steps=[_view_step(each) for each in watched.steps],
        papers=[StepPaperView(**each._asdict()) for each in watched.papers],
    )


def view_event(event: CycleEvent) -> CycleEventView:
    """Return a line of a cycle's log."""
    return CycleEventView(**event.model_dump(exclude={"cycle"}))


def view_plan(plan: ScheduledPlan) -> ScheduledPlanView:
    """Return a scheduled plan with what its next cycle needs."""
    return ScheduledPlanView(
        name=plan.name,
        **plan.times._asdict(),
        under_way=plan.under_way,
        needs=[_view_need(each) for each in plan.needs],
        fault=plan.fault,
    )


def _view_need(need: PlanNeed) -> PlanNeedView:
    return PlanNeedView(**need._asdict(), missing=need.missing)


def _view_step(step: TakenStep) -> CycleStepView:
    outcome = step.outcome
    return CycleStepView(
        **step.model_dump(exclude={"outcome"}),
        verdict=outcome.verdict if outcome else None,
        detail=outcome.detail if outcome else "",
        figures=outcome.figures if outcome else {},
        usd=outcome.usd if outcome else 0,
        device_seconds=outcome.device_seconds if outcome else 0,
    )
