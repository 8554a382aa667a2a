"""The critical path, against which wall times are held."""

from datetime import timedelta

import pytest

from app.domain.plan import ResearchPlan, Subtask
from app.domain.trajectory import TurnKind
from bench.schedule import Latencies, find_critical_path, sum_agent_seconds

LATENCIES = Latencies(model=timedelta(milliseconds=200), tool=timedelta(milliseconds=50))


def subtask(name: str, *needs: str) -> Subtask:
    return Subtask(id=name, title=name, question=name, depends_on=needs)


def model(agent: str, times: int) -> list[tuple[str, TurnKind]]:
    return [(agent, TurnKind.MODEL)] * times


def test_parallel_searches_and_sections_count_once() -> None:
    plan = ResearchPlan(subtasks=(subtask("a"), subtask("b")))
    turns = model("plan", 2) + model("search/a", 3) + model("search/b", 5) + model("report", 3)
    turns += model("report/section/0", 1) + model("report/section/1", 2)
    assert find_critical_path(plan, sum_agent_seconds(turns, LATENCIES)).total_seconds() == pytest.approx(0.2 * (2 + 5 + 3 + 2))


def test_a_dependent_search_waits_for_what_it_needs() -> None:
    plan = ResearchPlan(subtasks=(subtask("late", "early"), subtask("early"), subtask("long")))
    turns = model("search/early", 3) + model("search/late", 3) + model("search/long", 5)
    turns += [("search/late", TurnKind.TOOL)]
    assert find_critical_path(plan, sum_agent_seconds(turns, LATENCIES)).total_seconds() == pytest.approx(6 * 0.2 + 0.05)


def test_subtasks_whose_names_begin_alike_are_kept_apart() -> None:
    plan = ResearchPlan(subtasks=(subtask("s1", "s10"), subtask("s10")))
    seconds = sum_agent_seconds(model("search/s1", 1) + model("search/s10", 4), LATENCIES)
    assert find_critical_path(plan, seconds).total_seconds() == pytest.approx(1.0)
