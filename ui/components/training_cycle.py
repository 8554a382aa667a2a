"""One cycle of training: where it stands, the outcome of each step, what they wrote, and its log."""

from collections.abc import Sequence
from datetime import timedelta

import streamlit as st

from rubrica_client import cycles
from rubrica_client.models import CycleDetail, CycleStepView, CycleView, StepPaperView
from ui.components import cycle_acts, cycle_log, safe_fragments, training_cycles
from ui.components.figures_view import figures_html
from ui.components.markup import escape, hero_html, labelled_html
from ui.language import say, say_name, say_time
from ui.number_format import format_elapsed
from ui.session import get_api

REFRESH = timedelta(seconds=5)
LINES = 100
COLORS = {"done": "full", "refused": "bad", "failed": "bad", "lacking": "warn", "skipped": "warn"}


def show(cycle_id: str, may_act: bool) -> None:
    """Draw a cycle. While it is under way, its course is drawn anew every few seconds."""
    detail = get_api().send(cycles.get(cycle_id))
    title = say("cycles.name", plan=detail.cycle.plan, when=say_time(detail.cycle.created_at, "day"))
    st.html(hero_html(title, _tell_caps(detail)))
    if may_act and detail.cycle.ended_at is None:
        cycle_acts.show(detail.cycle)
    run_every = REFRESH if detail.cycle.ended_at is None else None
    safe_fragments.make_fragment(_show_course, run_every=run_every)(cycle_id, _name_moment(detail.cycle))
    _show_papers(detail.papers)


def _show_course(cycle_id: str, moment: str) -> None:
    """Draw what happens in a cycle. Once other buttons fit it, the whole page is drawn anew."""
    detail = get_api().send(cycles.get(cycle_id))
    if _name_moment(detail.cycle) != moment:
        st.rerun()
    st.html(training_cycles.facts_html(detail.cycle))
    if detail.steps:
        st.html(labelled_html(say("cycles.steps"), _steps_html(detail.steps)))
    st.html(labelled_html(say("cycles.log"), cycle_log.log_html(cycle_log.list_last(detail.cycle, LINES))))
    if detail.cycle.last_seq > LINES:
        st.html(f'<p class="r-quiet">{escape(say("cycles.log_cut", n=LINES, all=f"{detail.cycle.last_seq:,}"))}</p>')


def _name_moment(cycle: CycleView) -> str:
    """Return what the buttons of a cycle depend on."""
    return f"{cycle.state} {cycle.wish} {cycle.step} {cycle.asks}"


def _tell_caps(detail: CycleDetail) -> str:
    usd, hours = sum(step.usd for step in detail.steps), sum(step.device_seconds for step in detail.steps) / 3600
    return say(
        "cycles.caps",
        usd=f"{usd:.2f}",
        cap_usd=f"{detail.cap_usd:.2f}",
        hours=f"{hours:.1f}",
        cap_hours=f"{detail.cap_device_hours:.1f}",
    )


def _steps_html(steps: Sequence[CycleStepView]) -> str:
    return f'<ul class="r-list">{"".join(f"<li>{_step_html(step)}</li>" for step in steps)}</ul>'


def _step_html(step: CycleStepView) -> str:
    verdict = say_name("step_verdict", step.verdict or "under_way")
    chip = f'<span class="r-chip {COLORS.get(step.verdict or "", "")}">{escape(verdict)}</span>'
    took = format_elapsed(step.ended_at - step.started_at) if step.ended_at else ""
    facts = say("log.comma").join(fact for fact in (say_time(step.started_at), took) if fact)
    again = say("cycles.attempt", n=step.attempt) if step.attempt > 1 else ""
    detail = f"<br>{escape(step.detail)}" if step.detail else ""
    figures = f"<details><summary>{escape(say('cycles.figures'))}</summary>{figures_html(step.figures)}</details>"
    return (
        f"<strong>{escape(cycle_log.name_step(step.step))}</strong> {chip} "
        f'<span class="r-quiet">{escape(facts)} {escape(again)}</span>{detail}{figures if step.figures else ""}'
    )


def _show_papers(papers: Sequence[StepPaperView]) -> None:
    for paper in papers:
        with st.expander(say("cycles.paper", step=cycle_log.name_step(paper.step))):
            st.code(paper.text, language="markdown", wrap_lines=True)
