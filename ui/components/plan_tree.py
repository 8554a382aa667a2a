"""The plan as a tree of stages: their dependencies, their progress, and what each does now."""

from rubrica_client.models import ResearchPlan, Subtask
from ui.components.markup import escape
from ui.language import say, say_count, say_name
from ui.progress import PLAN, REPORT, WatchedProgress, WatchedStage
from ui.sentences import action_of

MARKS = {"done": "✓", "failed": "✕", "partial": "~"}
DEEPEST = 3


def measure_depths(plan: ResearchPlan) -> dict[str, int]:
    """Return for each subtask its longest chain of dependencies. Subtasks of one depth may run in parallel."""
    depth_of: dict[str, int] = {}
    waiting = list(plan.subtasks)
    while waiting:
        ready = [s for s in waiting if all(d in depth_of for d in s.depends_on)] or waiting[:1]
        for subtask in ready:
            depth_of[subtask.id] = 1 + max((depth_of.get(d, 0) for d in subtask.depends_on), default=-1)
        waiting = [s for s in waiting if s.id not in depth_of]
    return depth_of


def plan_html(progress: WatchedProgress, *, still: bool) -> str:
    """Return the planning, the subtasks by depth, and the report as HTML. With `still`, no stage seems to run."""
    steps = [
        _step_html(progress.find_stage(PLAN), say("watch.step_plan"), progress.plan.intent if progress.plan else "", "", 0, still)
    ]
    if progress.plan:
        levels = measure_depths(progress.plan)
        numbers = {s.id: str(n) for n, s in enumerate(progress.plan.subtasks, 1)}
        for subtask in sorted(progress.plan.subtasks, key=lambda s: levels[s.id]):
            stage = progress.find_stage(f"search/{subtask.id}")
            steps.append(
                _step_html(
                    stage, subtask.title, _describe_subtask(subtask, numbers), numbers[subtask.id], levels[subtask.id], still
                )
            )
    steps.append(_step_html(progress.find_stage(REPORT), say("watch.step_report"), _describe_report(progress), "", 0, still))
    return f'<ol class="r-plan">{"".join(steps)}</ol>'


def _describe_subtask(subtask: Subtask, numbers: dict[str, str]) -> str:
    needs = ", ".join(numbers.get(d, d) for d in subtask.depends_on)
    question = subtask.question if subtask.question != subtask.title else subtask.purpose
    return f"{question}\0{say('watch.after', steps=needs)}" if needs else question


def _describe_report(progress: WatchedProgress) -> str:
    return say("log.comma").join(say_count(name.removesuffix("s"), n) for name, n in progress.report.items())


def _step_html(stage: WatchedStage, title: str, about: str, number: str, depth: int, still: bool) -> str:
    state = "partial" if still and stage.state == "running" else stage.state
    about, _, after = about.partition("\0")
    chips = "".join(f'<span class="r-chip">{escape(chip)}</span>' for chip in (after, _describe_counts(stage)) if chip)
    lines = [f"<p>{escape(about)}</p>" if about else "", _state_html(stage, state)]
    dot = f'<span class="r-dot" title="{escape(say_name("stage", state))}">{MARKS.get(state, number)}</span>'
    return (
        f'<li class="r-step {state} d{min(depth, DEEPEST)}">{dot}<div><h4>{escape(title)}{chips}</h4>{"".join(lines)}</div></li>'
    )


def _describe_counts(stage: WatchedStage) -> str:
    parts = []
    if stage.quotes:
        parts.append(
            say_count("quote", stage.quotes)
            + (say("watch.from", sources=say_count("source", stage.sources)) if stage.sources else "")
        )
    elif stage.tool_calls:
        parts.append(say_count("search", stage.tool_calls))
    if stage.model_calls and stage.state == "running":
        parts.append(say_count("call", stage.model_calls))
    return " · ".join(parts)


def _state_html(stage: WatchedStage, state: str) -> str:
    if state == "running" and stage.doing:
        return f'<p class="doing">{escape(action_of(stage.doing))}</p>'
    if stage.stop and stage.stop != "sufficient":
        why = say_name("stop", stage.stop)
        return f"<p>{escape(why[:1].upper() + why[1:])}{': ' + escape(stage.detail) if stage.detail else ''}</p>"
    return ""
