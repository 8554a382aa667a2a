"""The planning agent without a model: one subtask for each part that the question clearly has, usually one."""

from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.reading import Reading
from workflows.agents.brief.parts import split_parts
from workflows.agents.brief.searches import Searches
from workflows.agents.brief.spelling import apply_readings, find_readings
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.simple_plan import QUESTION_CHARS, shorten_title
from workflows.agents.stage_memory import PLANNER


async def make_plan(query: ResearchQuery, kit: Kit) -> ResearchPlan:
    """Return a plan with the parts of the question, and with the words that are read otherwise than they were written."""
    readings = await _find_readings(query.question, kit)
    question = apply_readings(query.full_question, readings)
    parts = split_parts(question, kit.bounds.subtasks)
    subtasks = tuple(
        Subtask(id=f"s{number}", title=shorten_title(part), question=part[:QUESTION_CHARS])
        for number, part in enumerate(parts, start=1)
    )
    return ResearchPlan(title=shorten_title(query.question), subtasks=subtasks, readings=readings)


async def _find_readings(question: str, kit: Kit) -> tuple[Reading, ...]:
    try:
        return await find_readings(question, Searches(PLANNER, kit))
    except BudgetSpent:
        return ()  # the plan needs no search, and the run stops at its next stage by itself
