"""What a person may change while a chain runs: replace the plan, add a subtask, drop a subtask.

It is pure state and a wake-up call, without clock and I/O, so that it works inside a workflow and in a plain process.
"""

from collections.abc import Callable, Sequence

from app.domain.errors import Conflict, NotFound
from app.domain.plan import MAX_SUBTASKS, RemovedSubtask, ResearchPlan, Subtask, key_question, list_free_ids


class PlanSteering:
    """The current plan, and which of its subtasks were dropped.

    A dropped subtask stays in the plan. If it runs, it stops after its current turn and hands over what it has; if it never
    began, its finding says so. So the stage itself has to pass `dropped` on to the record of a running stage.
    """

    def __init__(self, plan: ResearchPlan | None = None, dropped: tuple[str, ...] = ()) -> None:
        self.plan = plan
        self.dropped = dropped
        self.closed = False
        self._wake: Callable[[], None] = lambda: None

    def watch(self, wake: Callable[[], None]) -> None:
        """Set the function to call after every change. The running system sets it."""
        self._wake = wake

    def begin(self, plan: ResearchPlan) -> ResearchPlan:
        """Take the planning agent's plan, unless a person has set one meanwhile. Return the plan that holds."""
        if self.plan is None:
            self.plan = plan
        return self.plan

    def close(self) -> ResearchPlan:
        """Fix the plan, because the searches are over."""
        self.closed = True
        return self.current_plan()

    def revise(self, plan: ResearchPlan) -> ResearchPlan:
        """Replace the whole plan. Subtasks whose id stays keep their findings; those whose id is gone are left out of the report.

        A subtask with the id of one that was taken out, and with another question, gets an id of its own.

        Raises:
            Conflict: the report is already being written.
        """
        self._check_open()
        revision = (self.plan or plan).revision + 1  # also without one yet: later than what the planning agent may bring
        before = self.plan or plan
        kept = {name: getattr(plan, name) or getattr(before, name) for name in ("readings", "sources")}
        subtasks = tuple(map(self._mark_added, self._give_free_ids(plan.subtasks)))
        told = {"revision": revision, **kept, "subtasks": subtasks, "removed": self._list_removed(subtasks)}
        return self._set_plan(plan.model_copy(update=told))

    def _give_free_ids(self, subtasks: Sequence[Subtask]) -> list[Subtask]:
        """Return the subtasks, each under an id that no other question had."""
        taken = {s.id for s in subtasks} | (self.plan.known_ids if self.plan else set())
        given = dict(zip((s.id for s in subtasks if self._is_used_up(s)), list_free_ids("added", taken), strict=False))
        return [
            s.model_copy(update={"id": given.get(s.id, s.id), "depends_on": tuple(given.get(n, n) for n in s.depends_on)})
            for s in subtasks
        ]

    def _is_used_up(self, subtask: Subtask) -> bool:
        """Say whether the subtask has the id of one that was taken out and asked something else."""
        asked = next((removed.asked for removed in self.plan.removed if removed.id == subtask.id), "") if self.plan else ""
        return asked not in ("", key_question(subtask.question))

    def _list_removed(self, subtasks: Sequence[Subtask]) -> tuple[RemovedSubtask, ...]:
        """List what was taken out of the plan, if these are its subtasks from now on."""
        if self.plan is None:
            return ()
        old = [RemovedSubtask(id=s.id, asked=key_question(s.question)) for s in self.plan.subtasks]
        stay = {s.id for s in subtasks}
        return tuple(removed for removed in (*self.plan.removed, *old) if removed.id not in stay)

    def _mark_added(self, subtask: Subtask) -> Subtask:
        """Return the subtask, marked as added when a person added it or changed its question."""
        before = next((s for s in self.plan.subtasks if s.id == subtask.id), None) if self.plan else None
        added = before is None or before.added or before.question != subtask.question
        return subtask if subtask.added == added else subtask.model_copy(update={"added": added})

    def add(self, subtask: Subtask) -> ResearchPlan:
        """Add a subtask.

        Raises:
            Conflict: there is no plan yet, the report is being written, the id is or was another's, or the plan is full.
        """
        self._check_open()
        plan = self.current_plan()
        if len(plan.subtasks) >= MAX_SUBTASKS:
            raise Conflict(f"the plan already has {MAX_SUBTASKS} subtasks; drop or merge one first")
        if any(s.id == subtask.id for s in plan.subtasks):
            raise Conflict(f"the plan already has a subtask {subtask.id!r}; choose another id")
        if self._is_used_up(subtask):
            raise Conflict(f"the plan had another subtask {subtask.id!r}, which was taken out; choose another id")
        unknown = set(subtask.depends_on) - {s.id for s in plan.subtasks}
        if unknown:
            raise Conflict(f"subtask {subtask.id!r} depends on {sorted(unknown)[0]!r}, which is not in the plan")
        subtasks = (*plan.subtasks, self._mark_added(subtask))
        changed = {"subtasks": subtasks, "revision": plan.revision + 1, "removed": self._list_removed(subtasks)}
        return self._set_plan(ResearchPlan(**(dict(plan) | changed)))

    def extend(self, further: tuple[Subtask, ...]) -> ResearchPlan:
        """Add the planner's further subtasks, except those that the plan has no room for, or has or had already.

        After a pause the planner's stage hands them over again, and a person may have taken some out meanwhile.
        """
        plan = self.current_plan()
        known, here = plan.known_ids, {s.id for s in plan.subtasks}
        new = [s for s in further if s.id not in known and here.issuperset(s.depends_on)][: MAX_SUBTASKS - len(plan.subtasks)]
        if not new:
            return plan
        changed = {"subtasks": (*plan.subtasks, *new), "revision": plan.revision + 1}
        return self._set_plan(ResearchPlan(**(dict(plan) | changed)))

    def drop(self, subtask_id: str) -> ResearchPlan:
        """Drop a subtask.

        Raises:
            Conflict: there is no plan yet, or the report is being written.
            NotFound: the plan has no such subtask.
        """
        self._check_open()
        plan = self.current_plan()
        if all(s.id != subtask_id for s in plan.subtasks):
            raise NotFound(f"the plan has no subtask {subtask_id!r}")
        if subtask_id not in self.dropped:
            self.dropped = (*self.dropped, subtask_id)
        return self._set_plan(plan)

    def _set_plan(self, plan: ResearchPlan) -> ResearchPlan:
        self.plan = plan
        self._wake()
        return plan

    def current_plan(self) -> ResearchPlan:
        """Return the current plan.

        Raises:
            Conflict: there is no plan yet.
        """
        if self.plan is None:
            raise Conflict("the plan is not made yet; wait for it, then change it")
        return self.plan

    def _check_open(self) -> None:
        if self.closed:
            raise Conflict("the report is already being written; the plan can no longer change")
