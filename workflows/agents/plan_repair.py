"""Making a valid plan from any proposal of a model: a bad plan is repaired, never refused."""

from collections.abc import Sequence

from pydantic import Field

from app.domain.plan import MAX_SUBTASKS, ResearchPlan, Subtask
from workflows.agents.steps import StepAnswer

TITLE_CHARS = 200
QUESTION_CHARS = 2_000
REMARK_CHARS = 1_000
PLAN_TITLE_CHARS = 300


class SubtaskAnswer(StepAnswer):
    """One proposed subtask. A bare string is its question."""

    main = "question"

    id: str = Field(default="", description="s1, s2, ...")
    title: str = Field(default="", description="a few words")
    question: str = Field(default="", description="one self-contained question that one researcher can answer from sources")
    purpose: str = Field(default="", description="why the whole answer needs it")
    expected_evidence: str = Field(default="", description="what kind of source or fact would settle it")
    depends_on: tuple[str, ...] = Field(default=(), description="ids of subtasks whose findings it needs first; mostly none")


class PlanAnswer(StepAnswer):
    """A proposed plan."""

    title: str = Field(default="", description="a title for the report")
    subtasks: tuple[SubtaskAnswer, ...] = ()


def repair_plan(proposed: PlanAnswer, most: int) -> ResearchPlan | None:
    """Return the proposal as a valid plan, or None when it has no usable subtask.

    Subtasks get the ids s1, s2, ... Repeated and empty subtasks and those above `most` are dropped. So are dependencies that name
    no subtask, name the subtask itself or would close a circle.
    """
    kept = _drop_repeated(proposed.subtasks)[: min(most, MAX_SUBTASKS)]
    if not kept:
        return None
    ids: dict[str, int] = {}
    for i, subtask in enumerate(kept):
        for name in (subtask.id, f"s{i + 1}"):
            ids.setdefault(_fold_name(name), i)
    needs = _break_circles([[ids[_fold_name(n)] for n in s.depends_on if _fold_name(n) in ids] for s in kept])
    subtasks = tuple(_make_subtask(s, i, needs[i]) for i, s in enumerate(kept))
    title = " ".join(proposed.title.split())
    return ResearchPlan(title=title[:PLAN_TITLE_CHARS], subtasks=subtasks)


def _drop_repeated(subtasks: Sequence[SubtaskAnswer]) -> list[SubtaskAnswer]:
    seen: dict[str, SubtaskAnswer] = {}
    for subtask in subtasks:
        question = " ".join((subtask.question or subtask.title).casefold().split())
        if any(c.isalnum() for c in question):
            seen.setdefault(question, subtask)
    return list(seen.values())


def _fold_name(said: str) -> str:
    return said.strip().casefold()


def _break_circles(wanted: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the wanted dependencies, in order, without those that would close a circle."""
    needs: list[list[int]] = [[] for _ in wanted]
    for i, needed in enumerate(wanted):
        for j in dict.fromkeys(needed):
            if j != i and not _reaches(needs, j, i):
                needs[i].append(j)
    return needs


def _reaches(needs: Sequence[Sequence[int]], start: int, goal: int) -> bool:
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        current = waiting.pop()
        if current == goal:
            return True
        if current not in seen:
            seen.add(current)
            waiting.extend(needs[current])
    return False


def _make_subtask(said: SubtaskAnswer, index: int, needs: Sequence[int]) -> Subtask:
    question = said.question.strip() or said.title.strip()
    return Subtask(
        id=f"s{index + 1}",
        title=" ".join((said.title.strip() or question).split())[:TITLE_CHARS],
        question=question[:QUESTION_CHARS],
        purpose=said.purpose.strip()[:REMARK_CHARS],
        expected_evidence=said.expected_evidence.strip()[:REMARK_CHARS],
        depends_on=tuple(f"s{j + 1}" for j in sorted(needs)),
    )
