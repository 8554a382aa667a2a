"""What a person may change while a chain runs: replace the plan, add a subtask, drop a subtask.

It is pure state and a wake-up call, without clock and I/O, so that it works inside a workflow and in a plain process.
"""

from collections.abc import Callable

from app.domain.errors import Conflict, NotFound
from app.domain.plan import MAX_SUBTASKS, ResearchPlan, Subtask


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

        Raises:
            Conflict: the report is already being written.
        """
        self._check_open()
        revision = (self.plan or plan).revision + 1  # also without one yet: later than what the planning agent may bring
        readings = plan.readings or (self.plan.readings if self.plan else ())
        told = {"revision": revision, "readings": readings, "subtasks": tuple(map(self._mark_added, plan.subtasks))}
        return self._set_plan(plan.model_copy(update=told))

    def _mark_added(self, subtask: Subtask) -> Subtask:
        """Return the subtask, marked as added when a person added it or changed its question."""
        before = next((s for s in self.plan.subtasks if s.id == subtask.id), None) if self.plan else None
        added = before is None or before.added or before.question != subtask.question
        return subtask if subtask.added == added else subtask.model_copy(update={"added": added})

    def add(self, subtask: Subtask) -> ResearchPlan:
        """Add a subtask.

        Raises:
            Conflict: there is no plan yet, the report is being written, the id is taken, or the plan is full.
        """
        self._check_open()
        plan = self.current_plan()
        if len(plan.subtasks) >= MAX_SUBTASKS:
            raise Conflict(f"the plan already has {MAX_SUBTASKS} subtasks; drop or merge one first")
        if any(s.id == subtask.id for s in plan.subtasks):
            raise Conflict(f"the plan already has a subtask {subtask.id!r}; choose another id")
        unknown = set(subtask.depends_on) - {s.id for s in plan.subtasks}
        if unknown:
            raise Conflict(f"subtask {subtask.id!r} depends on {sorted(unknown)[0]!r}, which is not in the plan")
        changed = {"subtasks": (*plan.subtasks, self._mark_added(subtask)), "revision": plan.revision + 1}
        return self._set_plan(ResearchPlan(**(dict(plan) | changed)))

    def extend(self, further: tuple[Subtask, ...]) -> ResearchPlan:
        """Add the planner's further subtasks, except those that the plan has already (as after a pause) or has no room for."""
        plan = self.current_plan()
        known = {s.id for s in plan.subtasks}
        new = [s for s in further if s.id not in known and known.issuperset(s.depends_on)][: MAX_SUBTASKS - len(plan.subtasks)]
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
