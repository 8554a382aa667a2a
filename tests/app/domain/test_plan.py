import pytest
from pydantic import ValidationError

from app.domain.plan import ResearchPlan, Subtask


def part(name: str, *needs: str) -> Subtask:
    return Subtask(id=name, title=name, question=f"{name}?", depends_on=needs)


def test_ready_respects_dependencies_and_order() -> None:
    plan = ResearchPlan(subtasks=(part("c", "a", "b"), part("a"), part("b")))
    assert [s.id for s in plan.ready(done=frozenset(), started=frozenset())] == ["a", "b"]
    assert [s.id for s in plan.ready(done=frozenset({"a"}), started=frozenset({"b"}))] == []
    assert [s.id for s in plan.ready(done=frozenset({"a", "b"}), started=frozenset())] == ["c"]


def test_ancestors_are_transitive() -> None:
    plan = ResearchPlan(subtasks=(part("a"), part("b", "a"), part("c", "b"), part("d")))
    assert plan.ancestors("c") == {"a", "b"}
    assert plan.ancestors("d") == frozenset()


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


def test_a_search_sees_its_own_subtask_whole_and_of_the_others_ids_titles_and_dependencies() -> None:
    plan = ResearchPlan(
        intent="why", subtasks=(part("a"), part("b", "a").model_copy(update={"purpose": "to compare"}), part("c", "b"))
    )
    seen = plan.as_seen_by("b")
    assert seen.subtask("b") is plan.subtask("b")
    assert [(s.id, s.title, s.depends_on) for s in seen.subtasks] == [(s.id, s.title, s.depends_on) for s in plan.subtasks]
    assert (seen.intent, seen.ancestors("c")) == (plan.intent, plan.ancestors("c"))
    assert "a?" not in seen.model_dump_json()
    assert plan.as_seen_by("a").subtask("c") is seen.subtask("c")
    assert ResearchPlan.model_validate_json(seen.model_dump_json()) == seen


def test_plans_that_are_read_again_and_again_keep_equal_subtasks_once() -> None:
    plan = ResearchPlan(subtasks=(part("a"), part("b", "a")))
    first, second = (ResearchPlan.model_validate_json(plan.model_dump_json()) for _ in range(2))
    assert all(one is other for one, other in zip(first.subtasks, second.subtasks, strict=True))
    changed = first.model_copy(update={"subtasks": (part("a"), part("b"))})
    again = ResearchPlan.model_validate_json(changed.model_dump_json())
    assert again.subtasks[0] is first.subtasks[0]
    assert again.subtasks[1].depends_on == ()
    assert first.subtasks[1].depends_on == ("a",)
