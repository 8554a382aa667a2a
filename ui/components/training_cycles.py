"""Cycles of training as the operator sees them: the next ones with what they lack, those under way, and those that ended."""

from collections.abc import Sequence

import streamlit as st

from rubrica_client import cycles
from rubrica_client.models import ActReason, CycleView, PlanNeedView, ScheduledPlanView
from ui.components import cycle_acts, cycle_log
from ui.components.markup import escape, escape_for_markdown
from ui.components.model_roles import ask_reason
from ui.language import say, say_name, say_time
from ui.session import get_api

PAGE = "views/models.py"
SHOWN, LINES = 10, 5
COLORS = {"promoted": "full", "refused": "bad", "failed": "bad", "waiting": "warn", "paused": "warn", "lacking": "warn"}


def show(may_act: bool, before: str | None) -> None:
    """Draw what is scheduled, and the newest cycles; with `before`, those that came before it."""
    st.html(f'<h2 class="r-label">{escape(say("cycles.title"))}</h2>')
    page = get_api().send(cycles.list_(limit=SHOWN, before=before))
    if before is None:
        _show_plans(get_api().send(cycles.plans()).items, may_act)
        if not page.items:
            st.html(f'<p class="r-quiet">{escape(say("cycles.none"))}</p>')
    for cycle in page.items:
        _show_row(cycle, may_act)
    if page.next:
        st.page_link(PAGE, label=say("cycles.older"), icon=":material/arrow_downward:", query_params={"cycles_before": page.next})


def facts_html(cycle: CycleView) -> str:
    """Return how a cycle stands: its state, its step and since when; where it has ended, why."""
    chip = f'<span class="r-chip {COLORS.get(cycle.state, "")}">{escape(say_name("cycle_state", cycle.state))}</span>'
    wish = say_name("cycle_wish", cycle.wish) if cycle.wish != "go" and cycle.ended_at is None else ""
    step = say("cycles.at", step=cycle_log.name_step(cycle.step), when=say_time(cycle.since)) if cycle.step else ""
    ended = say("cycles.ended", when=say_time(cycle.ended_at)) if cycle.ended_at else ""
    began = say("cycles.began", when=say_time(cycle.created_at), by=cycle_log.name_asker(cycle.asked_by))
    facts = say("log.comma").join(fact for fact in (step, ended, wish, began) if fact)
    return f'{chip} <span class="r-quiet">{escape(facts)}</span>{_detail_html(cycle)}'


def _detail_html(cycle: CycleView) -> str:
    """Return what a cycle waits for, or why it ended. Where it runs or rests, its step says all."""
    told = say("cycles.asks") if cycle.asks else cycle.detail if cycle.state not in ("running", "paused") else ""
    return f"<br>{escape(told)}" if told else ""


def _show_plans(plans: Sequence[ScheduledPlanView], may_act: bool) -> None:
    if not plans:
        st.html(f'<p class="r-quiet">{escape(say("cycles.nothing_scheduled"))}</p>')
    for plan in plans:
        with st.container(border=True, key=f"plan_{plan.name}", gap="xsmall"):
            st.html(_plan_html(plan))
            if may_act and plan.under_way is None and not plan.fault:
                _offer_start(plan.name)


def _offer_start(plan: str) -> None:
    ask_reason(
        say("cycles.start"),
        say("cycles.start_help"),
        f"start_{plan}",
        ":material/play_arrow:",
        lambda why: cycles.start(plan, ActReason(reason=why)),
        say("cycles.started"),
    )


def _plan_html(plan: ScheduledPlanView) -> str:
    following = say("cycles.next", when=say_time(plan.next_at)) if plan.next_at else say("cycles.resting")
    times = f"{plan.cron} {plan.time_zone}".strip()
    head = f'<strong>{escape(plan.name)}</strong> {escape(following)} <span class="r-quiet">{escape(times)}</span>'
    if plan.fault:
        return f'{head}<div class="r-note bad">{escape(plan.fault)}</div>'
    needs = "".join(f"<li>{_need_html(need)}</li>" for need in plan.needs)
    return f'{head}<ul class="r-list">{needs}</ul><p class="r-quiet">{escape(say("cycles.estimate"))}</p>'


def _need_html(need: PlanNeedView) -> str:
    what = say_name("plan_need", need.what)
    if need.stage:
        what = say("cycles.of_stage", stage=need.stage, what=what)
    if need.found is None:
        return escape(say("cycles.need_unknown", what=what, least=f"{need.least:,}"))
    told = say("cycles.need", what=what, found=f"{need.found:,}", least=f"{need.least:,}")
    lacks = say("cycles.missing", n=f"{need.missing:,}") if need.missing else say("cycles.enough")
    return f'{escape(told)} <span class="r-chip {"warn" if need.missing else "full"}">{escape(lacks)}</span>'


def _show_row(cycle: CycleView, may_act: bool) -> None:
    with st.container(border=True, key=f"cycle_{cycle.id}", gap="xsmall"):
        label = say("cycles.name", plan=cycle.plan, when=say_time(cycle.created_at, "day"))
        st.page_link(PAGE, label=escape_for_markdown(label), query_params={"cycle": cycle.id})
        st.html(facts_html(cycle))
        if cycle.ended_at is None:
            st.html(cycle_log.log_html(cycle_log.list_last(cycle, LINES)))
            if may_act:
                cycle_acts.show(cycle)
