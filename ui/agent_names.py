"""Names of agents for people: what an agent works on, not its path."""

from ui.language import say, say_name
from ui.progress import GIVEN_UP, WatchedProgress, stage_of

SECTION = "report/section/"
WHOLE_STAGES = ("plan", "second_plan", "report", "user")


def name_agent(path: str, progress: WatchedProgress) -> str:
    """Return the name of the agent at this path: "Section 3: Revenue", the title of its step, or the name of its stage."""
    path = path.removesuffix(GIVEN_UP)
    if path.startswith(SECTION):
        return _name_section(path.removeprefix(SECTION), progress)
    stage = stage_of(path)
    part = path.removeprefix(stage).strip("/").partition("/")[0]
    if stage.startswith("search/"):
        name = _name_step(stage.removeprefix("search/"), progress)
    elif stage in WHOLE_STAGES:
        name = say_name("agent", stage)
    else:
        return say_name("agent", stage.partition("/")[0])
    return say("agents.part", whole=name, part=say_name("agent_part", part)) if part else name


def _name_section(number: str, progress: WatchedProgress) -> str:
    drafted = progress.draft.get(int(number)) if number.isdecimal() else None
    return say("agents.section", n=number, heading=drafted.heading) if drafted else say("agents.section_only", n=number)


def _name_step(subtask_id: str, progress: WatchedProgress) -> str:
    subtasks = progress.plan.subtasks if progress.plan else ()
    found = next(((n, s.title) for n, s in enumerate(subtasks, 1) if s.id == subtask_id and s.title), None)
    return say("agents.step", n=found[0], title=found[1]) if found else say("agents.step_only", id=subtask_id)
