"""The plan as a tree of stages: their dependencies, their progress, and what each does now."""

from rubrica_client.models import ResearchPlan, Subtask
from ui.components.markup import text
from ui.language import count, named, say
from ui.progress import PLAN, REPORT, Progress, Stage
from ui.sentences import action

MARKS = {"done": "✓", "failed": "✕", "partial": "~"}
DEEPEST = 3


def depths(plan: ResearchPlan) -> dict[str, int]:
    """Return for each subtask its longest chain of dependencies. Subtasks of one depth may run in parallel."""
    depth_of: dict[str, int] = {}
    waiting = list(plan.subtasks)
    while waiting:
        ready = [s for s in waiting if all(d in depth_of for d in s.depends_on)] or waiting[:1]
        for subtask in ready:
            depth_of[subtask.id] = 1 + max((depth_of.get(d, 0) for d in subtask.depends_on), default=-1)
        waiting = [s for s in waiting if s.id not in depth_of]
    return depth_of


def plan_html(progress: Progress, *, still: bool) -> str:
    """Return the planning, the subtasks by depth, and the report as HTML. With `still`, no stage seems to run."""
    steps = [_step(progress.stage(PLAN), say("watch.step_plan"), progress.plan.intent if progress.plan else "", "", 0, still)]
    if progress.plan:
        levels = depths(progress.plan)
        numbers = {s.id: str(n) for n, s in enumerate(progress.plan.subtasks, 1)}
        for subtask in sorted(progress.plan.subtasks, key=lambda s: levels[s.id]):
            stage = progress.stage(f"search/{subtask.id}")
            steps.append(_step(stage, subtask.title, _about(subtask, numbers), numbers[subtask.id], levels[subtask.id], still))
    steps.append(_step(progress.stage(REPORT), say("watch.step_report"), _written(progress), "", 0, still))
    return f'<ol class="r-plan">{"".join(steps)}</ol>'


def _about(subtask: Subtask, numbers: dict[str, str]) -> str:
    needs = ", ".join(numbers.get(d, d) for d in subtask.depends_on)
    question = subtask.question if subtask.question != subtask.title else subtask.purpose
    return f"{question}\0{say('watch.after', steps=needs)}" if needs else question


def _written(progress: Progress) -> str:
    return say("log.comma").join(count(name.removesuffix("s"), n) for name, n in progress.report.items())


def _step(stage: Stage, title: str, about: str, number: str, depth: int, still: bool) -> str:
    state = "partial" if still and stage.state == "running" else stage.state
    about, _, after = about.partition("\0")
    chips = "".join(f'<span class="r-chip">{text(chip)}</span>' for chip in (after, _counts(stage)) if chip)
    lines = [f"<p>{text(about)}</p>" if about else "", _line(stage, state)]
    dot = f'<span class="r-dot" title="{text(named("stage", state))}">{MARKS.get(state, number)}</span>'
    return f'<li class="r-step {state} d{min(depth, DEEPEST)}">{dot}<div><h4>{text(title)}{chips}</h4>{"".join(lines)}</div></li>'


def _counts(stage: Stage) -> str:
    parts = []
    if stage.quotes:
        parts.append(
            count("quote", stage.quotes) + (say("watch.from", sources=count("source", stage.sources)) if stage.sources else "")
        )
    elif stage.tool_calls:
        parts.append(count("search", stage.tool_calls))
    if stage.model_calls and stage.state == "running":
        parts.append(count("call", stage.model_calls))
    return " · ".join(parts)


def _line(stage: Stage, state: str) -> str:
    if state == "running" and stage.doing:
        return f'<p class="doing">{text(action(stage.doing))}</p>'
    if stage.stop and stage.stop != "sufficient":
        why = named("stop", stage.stop)
        return f"<p>{text(why[:1].upper() + why[1:])}{': ' + text(stage.detail) if stage.detail else ''}</p>"
    return ""
