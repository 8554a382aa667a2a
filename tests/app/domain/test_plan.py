import pytest
from pydantic import ValidationError

from app.domain.plan import ResearchPlan, Subtask


def part(name: str, *needs: str) -> Subtask:
    return Subtask(id=name, title=name, question=f"{name}?", depends_on=needs)


def test_ready_respects_dependencies_and_order() -> None:
    plan = ResearchPlan(subtasks=(part("c", "a", "b"), part("a"), part("b")))
    assert [s.id for s in plan.list_ready(done=frozenset(), started=frozenset())] == ["a", "b"]
    assert [s.id for s in plan.list_ready(done=frozenset({"a"}), started=frozenset({"b"}))] == []
    assert [s.id for s in plan.list_ready(done=frozenset({"a", "b"}), started=frozenset())] == ["c"]


def test_ancestors_are_transitive() -> None:
    plan = ResearchPlan(subtasks=(part("a"), part("b", "a"), part("c", "b"), part("d")))
    assert plan.ancestors_of("c") == {"a", "b"}
    assert plan.ancestors_of("d") == frozenset()


@pytest.mark.parametrize(
    ("subtasks", "complaint"),
    [
        ((part("a"), part("a")), "share an id"),
        ((part("a", "z"),), "not in the plan"),
        ((part("a", "b"), part("b", "a")), "circle"),
        ((part("a", "a"),), "circle"),
        ((), "at least 1"),
        (tuple(part(f"s{i}") for i in range(13)), "at most 12"),
    ],
)
def test_an_inconsistent_plan_is_refused(subtasks: tuple[Subtask, ...], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        ResearchPlan(subtasks=subtasks)
