import asyncio

import pytest

from app.domain.budget import StopReason
from app.domain.errors import Conflict, NotFound
from app.domain.evidence import Finding
from app.domain.plan import RemovedSubtask, ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report
from workflows.systems.minddr import research
from workflows.systems.stages import StageFailed
from workflows.systems.steering import PlanSteering

QUERY = ResearchQuery(question="Why?")
TURNS = 50
"""More than the system takes from the end of a search to the beginning of the next."""


def subtask(name: str, *needs: str) -> Subtask:
    return Subtask(id=name, title=name, question=f"{name}?", depends_on=needs)


PLAN = ResearchPlan(subtasks=(subtask("a"), subtask("b"), subtask("c", "a"), subtask("d", "c", "b")))


class Halted(Exception):
    """As a record raises it on a pause."""


class Doors:
    """Stages whose searches wait until their door is opened; keeps the order of events."""

    def __init__(self, plan: ResearchPlan = PLAN) -> None:
        self.made = plan
        self.doors: dict[str, asyncio.Future[Exception | None]] = {}
        self.log: list[str] = []
        self.given: tuple[Finding, ...] = ()

    async def plan(self, query: ResearchQuery) -> ResearchPlan:
        self.log.append("plan")
        await asyncio.sleep(0)
        return self.made

    async def search(self, subtask: Subtask, plan: ResearchPlan) -> Finding:
        self.log.append(f"+{subtask.id}")
        door = self.doors[subtask.id] = asyncio.get_running_loop().create_future()
        try:
            error = await door
        except asyncio.CancelledError:
            self.log.append(f"x{subtask.id}")
            raise
        if error:
            raise error
        self.log.append(f"-{subtask.id}")
        return Finding(subtask_id=subtask.id, stop=StopReason.SUFFICIENT)

    async def report(self, plan: ResearchPlan, findings: tuple[Finding, ...]) -> Report:
        self.log.append("report")
        self.given = findings
        return Report(title=",".join(f.subtask_id for f in findings), sections=())

    async def open(self, name: str, error: Exception | None = None) -> None:
        """Let a search end, and the system do all it then does. Turns of the loop, no time: on a busy machine that has none."""
        await self.until(name)
        self.doors[name].set_result(error)
        for _ in range(TURNS):
            await asyncio.sleep(0)

    async def until(self, name: str) -> None:
        while name not in self.doors:
            await asyncio.sleep(0)


def start(doors: Doors, steering: PlanSteering | None = None) -> asyncio.Task[Report]:
    return asyncio.create_task(research(QUERY, doors, steering or PlanSteering()))


async def test_independent_searches_run_at_once_and_dependent_ones_wait() -> None:
    doors = Doors()
    run = start(doors)
    await doors.until("b")
    assert doors.log == ["plan", "+a", "+b"]
    await doors.open("b")
    assert doors.log[-1] == "-b"
    await doors.open("a")
    assert doors.log[-1] == "+c"
    await doors.open("c")
    await doors.open("d")
    assert (await run).title == "a,b,c,d"


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
async def test_findings_come_in_plan_order_whoever_ends_first(order: tuple[str, str]) -> None:
    doors = Doors(ResearchPlan(subtasks=(subtask("a"), subtask("b"))))
    run = start(doors)
    for name in order:
        await doors.open(name)
    assert (await run).title == "a,b"


async def test_a_search_that_fails_for_good_becomes_a_finding_and_its_dependents_still_run() -> None:
    doors = Doors()
    run = start(doors)
    await doors.open("a", StageFailed("no model"))
    for name in ("b", "c", "d"):
        await doors.open(name)
    await run
    assert (doors.given[0].stop, doors.given[0].detail) == (StopReason.FAILED, "no model")
    assert [f.stop for f in doors.given[1:]] == [StopReason.SUFFICIENT] * 3


async def test_a_halt_waits_for_the_others_to_halt_and_starts_nothing_new() -> None:
    doors = Doors()
    run = start(doors)
    await doors.until("b")
    await doors.open("a", Halted("pause"))
    assert not run.done()
    await doors.open("b", Halted("pause"))
    with pytest.raises(Halted):
        await run
    assert "+c" not in doors.log


async def test_cancelling_the_system_cancels_its_searches() -> None:
    doors = Doors()
    run = start(doors)
    await doors.until("b")
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert doors.log[-2:] == ["xa", "xb"]


async def test_an_added_subtask_runs_and_is_reported() -> None:
    doors, steering = Doors(ResearchPlan(subtasks=(subtask("a"),))), PlanSteering()
    run = start(doors, steering)
    await doors.until("a")
    steering.add(subtask("e", "a"))
    await doors.open("a")
    await doors.open("e")
    assert (await run).title == "a,e"


async def test_a_dropped_subtask_that_has_not_begun_never_begins_and_frees_its_dependents() -> None:
    doors, steering = Doors(), PlanSteering()
    run = start(doors, steering)
    await doors.until("b")
    steering.drop("c")
    await doors.open("b")
    assert doors.log[-1] == "+d"
    await doors.open("a")
    await doors.open("d")
    await run
    assert {f.subtask_id: f.stop for f in doors.given}["c"] is StopReason.DROPPED
    assert "+c" not in doors.log


async def test_a_revised_plan_keeps_finished_findings_and_leaves_out_what_is_gone() -> None:
    doors, steering = Doors(), PlanSteering()
    run = start(doors, steering)
    await doors.open("a")
    steering.revise(ResearchPlan(subtasks=(subtask("n"), subtask("a"))))
    await doors.open("n")
    assert not run.done(), "the system must not leave a running search behind"
    await doors.open("b")
    await doors.open("c")
    assert (await run).title == "n,a"
    assert doors.log.count("+a") == 1
    assert steering.current_plan().revision == 2


async def test_a_plan_given_from_the_start_is_used_as_it_is() -> None:
    doors = Doors()
    run = start(doors, PlanSteering(plan=ResearchPlan(subtasks=(subtask("z"),)), dropped=()))
    await doors.open("z")
    assert (await run).title == "z"
    assert "plan" not in doors.log


async def test_a_plan_set_while_planning_wins() -> None:
    doors, steering = Doors(), PlanSteering()
    run = start(doors, steering)
    await asyncio.sleep(0)
    steering.revise(ResearchPlan(subtasks=(subtask("mine"),)))
    await doors.open("mine")
    assert (await run).title == "mine"


async def test_steering_refuses_what_makes_no_sense() -> None:
    steering = PlanSteering()
    with pytest.raises(Conflict, match="not made yet"):
        steering.add(subtask("a"))
    steering.begin(PLAN)
    with pytest.raises(Conflict, match="already has a subtask"):
        steering.add(subtask("a"))
    with pytest.raises(Conflict, match="depends on"):
        steering.add(subtask("e", "nowhere"))
    with pytest.raises(NotFound):
        steering.drop("nowhere")
    for i in range(8):
        steering.add(subtask(f"x{i}"))
    with pytest.raises(Conflict, match="12 subtasks"):
        steering.add(subtask("y"))
    steering.close()
    with pytest.raises(Conflict, match="already being written"):
        steering.drop("a")


def test_what_a_person_adds_or_words_anew_is_marked_and_stays_so() -> None:
    steering = PlanSteering(PLAN)
    assert not any(s.added for s in steering.current_plan().subtasks)
    renamed, reworded = (
        PLAN.subtasks[0].model_copy(update={"title": "A"}),
        PLAN.subtasks[1].model_copy(update={"question": "why b?"}),
    )
    steering.revise(PLAN.model_copy(update={"subtasks": (reworded, renamed)}))
    steering.add(subtask("e"))
    assert {s.id: s.added for s in steering.current_plan().subtasks} == {"b": True, "a": False, "e": True}
    unmarked = [s.model_copy(update={"added": False}) for s in steering.current_plan().subtasks]
    steering.revise(PLAN.model_copy(update={"subtasks": tuple(reversed(unmarked))}))
    assert {s.id: s.added for s in steering.current_plan().subtasks} == {"e": True, "a": False, "b": True}


def test_an_id_is_never_given_to_another_question() -> None:
    steering = PlanSteering(PLAN)
    steering.revise(ResearchPlan(subtasks=(subtask("a"), subtask("c", "a"))))
    other = subtask("b").model_copy(update={"question": "something else?"})
    with pytest.raises(Conflict, match="was taken out; choose another id"):
        steering.add(other)
    plan = steering.revise(ResearchPlan(subtasks=(subtask("a"), other, subtask("c", "a", "b"))))
    assert [(s.id, s.question, s.depends_on) for s in plan.subtasks] == [
        ("a", "a?", ()),
        ("added1", "something else?", ()),
        ("c", "c?", ("a", "added1")),
    ]
    steering.revise(ResearchPlan(subtasks=(subtask("a"),)))
    plan = steering.revise(ResearchPlan(subtasks=(subtask("a"), other)))
    assert plan.subtasks[1].id == "added2", "also not after the subtask that came in its place"
    assert {removed.id for removed in plan.removed} == {"b", "c", "d", "added1"}


def test_a_subtask_that_comes_back_with_its_question_has_its_id_again() -> None:
    steering = PlanSteering(PLAN)
    sent = ResearchPlan(subtasks=PLAN.subtasks[:2], removed=(RemovedSubtask(id="c", asked="what a client made up"),))
    steering.revise(sent)
    assert [s.id for s in steering.add(subtask("c", "a")).subtasks] == ["a", "b", "c"]
    plan = steering.revise(PLAN)
    assert ([s.id for s in plan.subtasks], plan.removed) == (["a", "b", "c", "d"], ())


def test_the_planner_brings_nothing_back_that_a_person_took_out() -> None:
    steering = PlanSteering(PLAN)
    steering.revise(ResearchPlan(subtasks=PLAN.subtasks[:2]))
    assert [s.id for s in steering.extend((subtask("c", "a"), subtask("e"))).subtasks] == ["a", "b", "e"]
