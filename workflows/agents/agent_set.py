"""The three agents of the chain, bundled, so that those with and without a model are interchangeable."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.report import Report
from workflows.agents.kit import Kit

PlanningAgent: TypeAlias = Callable[[ResearchQuery, Kit], Awaitable[ResearchPlan]]
SearchAgent: TypeAlias = Callable[[Subtask, ResearchPlan, ResearchQuery, Kit], Awaitable[Finding]]
ReportAgent: TypeAlias = Callable[[ResearchQuery, ResearchPlan, tuple[Finding, ...], Kit], Awaitable[Report]]


@dataclass(frozen=True, slots=True)
class AgentSet:
    """One planning, one deep-search and one report agent that belong together (MindDR section 3.1)."""

    plan: PlanningAgent
    search: SearchAgent
    report: ReportAgent
