"""The plan that needs no model: the question itself as the one subtask."""

from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from workflows.agents.kit import Kit

TITLE_CHARS = 120
QUESTION_CHARS = 2_000
UNSPLIT_CHARS = 1_000


def make_single_plan(query: ResearchQuery) -> ResearchPlan:
    """Return a plan whose one subtask is the question."""
    title = shorten_title(query.question)
    subtask = Subtask(id="s1", title=title, question=query.question[:QUESTION_CHARS])
    return ResearchPlan(title=title, subtasks=(subtask,))


def shorten_title(question: str) -> str:
    """Return the first line of a question, cut to the length of a title."""
    first_line = question.strip().splitlines()[0]
    return first_line if len(first_line) <= TITLE_CHARS else first_line[: TITLE_CHARS - 1].rstrip() + "…"


async def plan_whole_question(query: ResearchQuery, kit: Kit) -> ResearchPlan:
    """Return the plan of systems that plan while they search: one part, the question."""
    return make_single_plan(query)
