"""The frame of the recipes without torch: configurations, the order of examples, the stopping rule, the run's folder."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.domain.errors import Conflict, InvalidInput, SetupError
from tests.training.recipes.toy_runs import RECIPES, write_toy
from training.evaluation.harness.manifest import digest_files
from training.recipes import starting
from training.recipes.catalogue import LOCATIONS, load_recipe
from training.recipes.config import CostSection, find_base, read_config
from training.recipes.ordering import LengthPhase, count_steps, find_phase, lay_out_epochs
from training.recipes.report_page import write_report
from training.recipes.run_folder import StepMetrics, TrainingFolder, TrainingOrigin
from training.recipes.sft_cold_start.config import StoppingSection
from training.recipes.sft_cold_start.format_limit import RULES, find_format_limit
from training.recipes.sft_cold_start.stopping import may_end
from training.recipes.training_data import digest_sets

CONFIGS = sorted(path for name in LOCATIONS for path in (RECIPES / name).glob("*.toml"))
RULE = StoppingSection(check_every=10, contexts=(64, 128), window=3, mid_step=10)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_configuration_of_a_recipe_is_read(path: Path) -> None:
    read = read_config(path, load_recipe(path.parent.name).config)
    assert all(each.is_absolute() for each in read.data.sets)


def test_every_value_of_a_paper_says_where_it_is_from() -> None:
    for path in CONFIGS:
        if path.name != "toy.toml":
            lines = [line for line in path.read_text().splitlines() if " = " in line and "begins = 0.0" not in line]
            unsaid = [line for line in lines if "#" not in line and not line.startswith(("sets", "log_every", "save_every"))]
            assert not unsaid, path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nbase = 'x'\n", "optimizer: Field required"),
        ("[model]\nbase = 'x'\nbsae = 'y'\n", "model.bsae: there is no such key; is base meant\\?"),
        ("[model\n", "is no TOML"),
    ],
)
def test_a_wrong_configuration_is_refused_by_its_key(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(text)
    with pytest.raises(InvalidInput, match=message):
        read_config(tmp_path / "c.toml", load_recipe("self_sft").config)


def test_a_base_may_be_a_run_that_trained_all_weights_and_no_other(tmp_path: Path) -> None:
    def begin_run(name: str, *files: str) -> str:
        (tmp_path / name / "model").mkdir(parents=True)
        for file in ("origin.json", *files):
            (tmp_path / name / file).touch()
        return name

    assert find_base(begin_run("whole", "model/config.json"), [tmp_path]) == str(tmp_path / "whole" / "model")
    assert find_base("Qwen/Qwen3-8B", [tmp_path]) == "Qwen/Qwen3-8B"
    adapter = begin_run("sft", "model/adapter_config.json")
    for name in (adapter, f"{adapter}/model"):
        with pytest.raises(InvalidInput, match=f"rubrica merge-adapter {tmp_path / adapter} "):
            find_base(name, [tmp_path])
    (tmp_path / begin_run("under-way") / "model").rmdir()
    with pytest.raises(InvalidInput, match="is not finished"):
        find_base("under-way", [tmp_path])


def test_what_is_missing_is_said_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starting, "PACKAGES", ("torch_that_is_not_there",))
    with pytest.raises(SetupError, match="make setup-train"):
        starting.require_packages()


def test_the_command_starts_without_torch() -> None:
    code = "import sys, infra.cli.main, training.recipes.starting; sys.exit(bool({'torch', 'transformers'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_short_examples_come_first_and_every_example_comes_in_each_epoch() -> None:
    phases = [LengthPhase(10, 0.0), LengthPhase(100, 0.5)]
    examples = [5, 50] * 50

    def begin_of(length: int) -> float:
        phase = find_phase(length, phases)
        return phase.begins if phase else 0.0

    order = lay_out_epochs(examples, 2, seed=1, begins=begin_of)
    assert sorted(order) == sorted(examples * 2)
    assert 50 not in order[: len(order) // 5]
    assert {5, 50} == set(order[-50:])
    assert order == lay_out_epochs(examples, 2, seed=1, begins=begin_of)
    assert len(lay_out_epochs(examples, 1.5, seed=1)) == 150
    assert count_steps(100, 1.5, 4) == 38


def test_the_limits_are_those_of_two_and_of_eight_rollouts() -> None:
    assert find_format_limit(RULES["two_of_two"]) == pytest.approx(1 - 0.95**0.5, abs=1e-9)
    assert find_format_limit(RULES["two_of_eight"]) == pytest.approx(0.529, abs=5e-4)


def log(losses: list[float], errors: float, entropy: float, middle: float = 1.0) -> list[StepMetrics]:
    """Metrics of steps 1 to 20, with checks at 10 and 20."""
    steps = [StepMetrics(step=n, seconds=n, values={"loss": loss}) for n, loss in enumerate(losses, start=1)]
    checks = [(10, middle), (20, entropy)]
    return steps + [
        StepMetrics(step=n, seconds=n, values={"policy_entropy": e, "format_errors/64": errors, "format_errors/128": errors})
        for n, e in checks
    ]


@pytest.mark.parametrize(
    ("losses", "errors", "entropy", "ends"),
    [
        ([2.0] * 20, 0.02, 0.95, True),
        ([2.0] * 20, 0.03, 0.95, False),
        ([2.0] * 20, 0.02, 0.85, False),
        ([3.0 - n / 10 for n in range(20)], 0.02, 0.95, False),
        ([2.0] * 4, 0.02, 0.95, False),
    ],
)
def test_training_ends_when_format_loss_and_entropy_allow_it(
    losses: list[float], errors: float, entropy: float, ends: bool
) -> None:
    assert may_end(RULE, log(losses, errors, entropy)) is ends


def test_a_length_that_could_not_be_checked_ends_nothing() -> None:
    metrics = [StepMetrics(step=10, seconds=1, values={"policy_entropy": 1.0, "format_errors/64": 0.0})]
    assert not may_end(RULE, [*log([2.0] * 20, 0.0, 1.0)[:-2], *metrics])


def describe(**changes: object) -> TrainingOrigin:
    fields = {"recipe": "r", "config": {}, "code": "c", "packages": {}, "data": {}, "base": {}, "device": "CPU"}
    return TrainingOrigin.model_validate(fields | {"started_at": datetime(2026, 11, 2, tzinfo=UTC)} | changes)


def test_the_report_sets_before_beside_after_and_draws_what_changes(tmp_path: Path) -> None:
    folder = TrainingFolder(tmp_path / "run")
    with folder.open_run(describe(config={"phases": [{"up_to": 8}], "judge": None})):
        for step in (1, 2):
            folder.keep_metrics(step, {"loss": 1.0 / step, "ends/failed": 0.0, "ends/capped": float(step)})
        folder.keep_figures({"best step": 2.0, "tense errors, before": 0.5, "tense errors, after": 0.25})
        write_report(folder, CostSection(devices=2, dollars_per_hour=2.0))
    page = (folder.path / "report.html").read_text()
    assert "<td>tense errors</td><td>0.5</td><td>0.25</td>" in page
    assert "<td>best step</td><td>2</td>" in page
    assert "The same at each step: ends/failed 0." in page
    assert page.count("<svg") == 2
    assert "<td>phases 1.up_to</td><td>8</td>" in page
    assert "judge" not in page


def test_training_that_a_launcher_starts_several_times_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(SetupError, match="one process"):
        starting.check_training("self_sft", write_toy(tmp_path, "self_sft"), None, lambda _: None)


@pytest.mark.extra("trl")
def test_devices_price_a_run_and_do_not_divide_its_batch(tmp_path: Path) -> None:
    said: list[str] = []
    path = write_toy(tmp_path, "self_sft", cost={"devices": 8}, optimizer={"batch_size": 2, "accumulation": 3})
    _, config = starting.check_training("self_sft", path, None, said.append)
    assert config.examples_a_step == 6
    assert "warning: training is one process on one device; the 8 of cost.devices are only priced" in said


def test_a_folder_goes_on_with_the_same_run_only(tmp_path: Path) -> None:
    folder = TrainingFolder(tmp_path / "run")
    with folder.open_run(describe()):
        folder.keep_metrics(0, {"validation": 0.5})
        folder.keep_metrics(1, {"loss": 2.0})
    with pytest.raises(Conflict, match="another data"), TrainingFolder(folder.path).open_run(describe(data={"x": "y"})):
        pass
    with TrainingFolder(folder.path).open_run(describe()):
        assert not folder.read_metrics(), "what was logged after the last checkpoint is done again"


def test_a_folder_that_was_killed_while_it_was_begun_is_no_strange_folder(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    (tmp_path / "origin.json.part").write_text('{"format"')
    with TrainingFolder(tmp_path).open_run(describe()):
        assert TrainingFolder(tmp_path).read_origin() == describe()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.json.part").touch()
    with pytest.raises(InvalidInput, match="something else"), TrainingFolder(tmp_path / "other").open_run(describe()):
        pass


def test_a_set_that_changes_is_seen_whatever_other_sets_are_called(tmp_path: Path) -> None:
    sets = [tmp_path / owner / "pairs" for owner in ("one", "other")]
    for path in sets:
        (path / "train").mkdir(parents=True)
        (path / "train" / "rows.jsonl").write_text("{}\n")
    files = [path / "train" / "rows.jsonl" for path in sets]
    before = digest_sets(sets), digest_files(files)
    assert [*before[0]] == ["one/pairs/train", "other/pairs/train"]
    assert [*before[1]] == ["one/pairs/train/rows.jsonl", "other/pairs/train/rows.jsonl"]
    assert [*digest_sets(sets[:1])] == ["pairs/train"]
    for changed in files:
        changed.write_text('{"other": 1}\n')
        assert digest_sets(sets) != before[0]
        assert digest_files(files) != before[1]
        changed.write_text("{}\n")
