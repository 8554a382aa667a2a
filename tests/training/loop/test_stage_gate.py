"""A stage's gate against its exams: what has to be proven is measured, and no role's own metric is left out."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.domain.retraining import StepTask
from app.domain.served_models import ModelRole
from tests.training.loop.exam_stage import SEARCHER_GATE, WRITER_GATE, make_task
from training.loop.exams.config import read_exam
from training.loop.set import make_stage_set
from training.loop.stage_gate import check_stage_gate, read_stage_gate

REPORTS = 'kind = "reports"\n'
SEARCHES = """kind = "searches"
world = {home = "/nowhere", collections = ["works"]}
chain = {turns = 2, calls_per_turn = 1, observation_tokens = 100}
"""
BOTH = {"reports.toml": REPORTS, "searches.toml": SEARCHES}


def give_roles(task: StepTask, *roles: ModelRole) -> StepTask:
    assert task.stage is not None
    return task.model_copy(update={"stage": task.stage.model_copy(update={"also": roles})})


def list_proven(task: StepTask) -> set[str]:
    return {proof.metric for proof in read_stage_gate(task).list_proofs()}


def test_a_writer_is_proven_by_its_reports_alone(tmp_path: Path) -> None:
    task = make_task(tmp_path, ModelRole.WRITER, {"exam.toml": REPORTS}, WRITER_GATE)
    check_stage_gate(task)
    assert list_proven(task) == {"report_rules", "citation_support", "cost"}


def test_a_writer_that_is_the_searcher_too_has_to_search(tmp_path: Path) -> None:
    """MindDR 6.3, Table 4: search lost 18 points after GRPO on reports."""
    task = give_roles(make_task(tmp_path, ModelRole.WRITER, BOTH, WRITER_GATE), ModelRole.SEARCHER)
    with pytest.raises(InvalidInput, match="in the role searcher moves search_accuracy"):
        check_stage_gate(task)
    (Path(task.plan) / "gate.toml").write_text(WRITER_GATE.replace('"search_accuracy", ', ""))
    check_stage_gate(task)
    assert list_proven(task) == {"report_rules", "search_accuracy", "citation_support", "cost/reports", "cost/searches"}


@pytest.mark.parametrize("role", [ModelRole.WRITER, ModelRole.RUBRIC, ModelRole.PLANNER])
def test_no_role_may_leave_out_what_it_moves(tmp_path: Path, role: ModelRole) -> None:
    gate = WRITER_GATE.replace('"search_accuracy", "pref', '"search_accuracy", "citation_support", "cost", "pref')
    with pytest.raises(InvalidInput, match=f"in the role {role} moves "):
        read_stage_gate(make_task(tmp_path, role, {"exam.toml": REPORTS}, gate))


async def test_what_no_exam_measures_is_said_before_a_set_is_made(tmp_path: Path) -> None:
    gate = WRITER_GATE.replace('"search_accuracy", ', "").replace("probes = []", 'probes = ["padded"]')
    task = make_task(tmp_path, ModelRole.WRITER, {"exam.toml": REPORTS}, gate)
    with pytest.raises(InvalidInput, match="wants probe/padded, search_accuracy proven, and no exam of the stage measures that"):
        await make_stage_set(task, tmp_path / "set")


def test_an_exam_of_reports_measures_no_search(tmp_path: Path) -> None:
    task = make_task(tmp_path, ModelRole.SEARCHER, {"exam.toml": REPORTS}, SEARCHER_GATE)
    with pytest.raises(InvalidInput, match="wants search_accuracy proven"):
        check_stage_gate(task)


def test_two_exams_of_one_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="of one kind"):
        read_stage_gate(make_task(tmp_path, ModelRole.WRITER, {"a.toml": REPORTS, "b.toml": REPORTS}, WRITER_GATE))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('kind = "poems"', "poems"),
        ('kind = "rubrics"\nsets = ["/a"]', "sets"),
        (f'splits = ["train"]\n{REPORTS}', "nothing that was learned from"),
        ('kind = "searches"', "world"),
    ],
)
def test_an_exam_that_cannot_be_used_says_why(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "exam.toml").write_text(text)
    with pytest.raises(InvalidInput, match=told):
        read_exam(tmp_path / "exam.toml")


def test_a_name_that_is_no_margin_is_not_untouched(tmp_path: Path) -> None:
    gate = WRITER_GATE.replace('"preference_accuracy"', '"preference_acuracy"')
    with pytest.raises(InvalidInput, match="preference_acuracy, which is no margin"):
        read_stage_gate(make_task(tmp_path, ModelRole.WRITER, {"exam.toml": REPORTS}, gate))


def test_margins_come_before_the_cycle(tmp_path: Path) -> None:
    task = make_task(tmp_path, ModelRole.WRITER, {"exam.toml": REPORTS}, WRITER_GATE)
    with pytest.raises(InvalidInput, match="margins come first"):
        read_stage_gate(task.model_copy(update={"began_at": datetime(2025, 1, 1, tzinfo=UTC)}))
