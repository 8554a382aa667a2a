"""Computes the critical path of a run: the least time its dependencies allow, from the turns it stored."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from app.domain.plan import ResearchPlan
from app.domain.trajectory import TurnKind

PLAN = "plan"
SEARCH = "search/"
REPORT = "report"
SECTION = "report/"


@dataclass(frozen=True)
class Latencies:
    """The time the outside world takes for one call."""

    model: timedelta
    tool: timedelta


def sum_agent_seconds(turns: Iterable[tuple[str, TurnKind]], latencies: Latencies) -> dict[str, float]:
    """Sum the time each agent waits for the outside world: its turns follow one another. Keys are agent paths."""
    seconds: dict[str, float] = defaultdict(float)
    for agent, kind in turns:
        waited = latencies.model if kind is TurnKind.MODEL else latencies.tool
        seconds[agent] += waited.total_seconds()
    return dict(seconds)


def find_critical_path(plan: ResearchPlan, seconds: Mapping[str, float]) -> timedelta:
    """Sum planning, the longest chain of dependent searches, and the report agent with its slowest parallel part."""
    searching: dict[str, float] = {}
    for subtask in sort_subtasks(plan):
        before = max((searching[d] for d in plan.get_subtask(subtask).depends_on), default=0.0)
        own = max((s for agent, s in seconds.items() if belongs_to(agent, SEARCH + subtask)), default=0.0)
        searching[subtask] = before + own
    parallel = max((s for agent, s in seconds.items() if agent.startswith(SECTION)), default=0.0)
    planning = sum(s for agent, s in seconds.items() if belongs_to(agent, PLAN))
    total = planning + max(searching.values(), default=0.0) + seconds.get(REPORT, 0.0) + parallel
    return timedelta(seconds=total)


def belongs_to(agent: str, stage: str) -> bool:
    """Tell whether this agent path is the stage's own or below it."""
    return agent == stage or agent.startswith(stage + "/")


def sort_subtasks(plan: ResearchPlan) -> list[str]:
    """Return subtask ids, each after those it depends on."""
    order: list[str] = []
    while len(order) < len(plan.subtasks):
        done = frozenset(order)
        order += [s.id for s in plan.list_ready(done, done)]
    return order


def count_calls_by_kind(turns: Iterable[tuple[str, TurnKind]]) -> Counter[TurnKind]:
    """Count a run's model and tool turns."""
    return Counter(kind for _, kind in turns)
