"""What a stage may read of earlier agents. It depends on the plan, never on who finished first (MindDR section 3.1, memory)."""

from collections.abc import Mapping

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.rubric import Rubric
from workflows.agents.memory import MemoryEntry, MemoryKind, SharedMemory

PLANNER = "plan"
SECOND_PLANNER = "second_plan"
REPORTER = "report"
READER = "user"


def path_of_search(subtask_id: str) -> str:
    """Return the agent path of the search on this subtask."""
    return f"search/{subtask_id}"


def memory_of_search(subtask: Subtask, plan: ResearchPlan, findings: Mapping[str, Finding], notes: SharedMemory) -> SharedMemory:
    """Return the planner's intent, the findings of all ancestors in plan order, and the reader's notes."""
    needed = plan.ancestors_of(subtask.id)
    known = tuple(findings[s.id] for s in plan.subtasks if s.id in needed and s.id in findings)
    return memory_of_report(plan, known, notes)


def memory_of_report(
    plan: ResearchPlan, findings: tuple[Finding, ...], notes: SharedMemory, rubric: Rubric | None = None
) -> SharedMemory:
    """Return the planner's intent, all these findings, the reader's notes, and what a rubric asks of the report."""
    intent = (MemoryEntry(agent=PLANNER, kind=MemoryKind.INTENT, text=plan.intent),) if plan.intent else ()
    told = tuple(entry for finding in findings for entry in entries_of(finding))
    criteria = rubric.criteria if rubric else ()
    asked = (MemoryEntry(agent=READER, kind=MemoryKind.CRITERION, text=criterion.description) for criterion in criteria)
    return SharedMemory(entries=intent + told).with_entries(*notes.entries, *asked)


def entries_of(finding: Finding) -> tuple[MemoryEntry, ...]:
    """Return what an agent adds to the shared memory: its thoughts, its answer with the evidence, its gaps."""
    agent = path_of_search(finding.subtask_id)
    keys = tuple(q.key for q in finding.quotes)
    addresses = tuple(dict.fromkeys(q.source.url for q in finding.quotes))
    thoughts = tuple(MemoryEntry(agent=agent, kind=MemoryKind.THOUGHT, text=text) for text in finding.thoughts)
    answer = [MemoryEntry(agent=agent, kind=MemoryKind.FINDING, text=finding.answer, quote_keys=keys, addresses=addresses)]
    gaps = tuple(MemoryEntry(agent=agent, kind=MemoryKind.GAP, text=text) for text in finding.gaps)
    return (*thoughts, *answer, *gaps) if finding.answer else (*thoughts, *gaps)
