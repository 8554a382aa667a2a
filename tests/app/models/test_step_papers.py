"""What steps wrote for people is read from a cycle's folder, and from nowhere else."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from app.domain.retraining import Cycle, CyclePlan
from app.domain.served_models import ModelRole
from app.domain.training_stage import ModelServer, TrainingStage
from app.models.service.step_papers import StepPaper, read_papers

DAY = datetime(2026, 1, 1, tzinfo=UTC)
STAGE = TrainingStage(
    name="rubric",
    role=ModelRole.RUBRIC,
    recipe="rubric_generator",
    config="recipe.toml",
    kind="preference-pairs",
    gate="gate.toml",
    exam="exam.toml",
    server=ModelServer(address="http://127.0.0.1:9/v1", base="base"),
)
CYCLE = Cycle(
    id=UUID(int=1), plan=CyclePlan(name="weekly", since=DAY, stages=(STAGE,)), folder="", asked_by="ann", created_at=DAY
)


def test_papers_are_read_in_the_order_of_the_steps(tmp_path: Path) -> None:
    for step, name in (("rubric.gate", "gate.md"), ("check", "checks.md"), ("rubric.exam", "gate.md"), ("other.gate", "gate.md")):
        (tmp_path / step).mkdir()
        (tmp_path / step / name).write_text(step)
    assert read_papers(tmp_path, CYCLE) == [StepPaper("check", "check"), StepPaper("rubric.gate", "rubric.gate")]


def test_a_link_that_leads_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    place = tmp_path / "cycle"
    (place / "check").mkdir(parents=True)
    (tmp_path / "secret").write_text("the key")
    (place / "check" / "checks.md").symlink_to(tmp_path / "secret")
    assert read_papers(place, CYCLE) == []


def test_a_cycle_whose_folder_is_elsewhere_has_none(tmp_path: Path) -> None:
    assert read_papers(tmp_path / "nowhere", CYCLE) == []
