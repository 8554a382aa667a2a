"""The steps of a cycle over real files, from an export to a gate's decision, with a tiny policy on a real server."""

import asyncio
import hashlib
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import orjson
import pytest

from app.domain.errors import InvalidInput
from app.domain.retraining import DataChecks, StepOutcome, StepTask, StepVerdict
from app.domain.served_models import ModelRole
from app.domain.step_folder import SET
from app.domain.training_stage import ModelServer, TrainingStage
from tests.support.chain_policy import save_chain_policy
from tests.training.loop.reader_export import choose_split, make_pair, write_export
from training.loop.check import check_data
from training.loop.set import make_stage_set, tell_lack
from training.synthesis.training_set.folder import ORIGIN, SetFolder

pytestmark = pytest.mark.extra("trl")

DEMANDS = {
    "sets the numbers out in a table": ("Key", 5),
    "is short": ("Important", 3),
    "names the limits of its evidence": ("Optional", 1),
    "keeps a calm tone": ("Optional", 1),
    "hears both sides": ("Optional", 1),
    "tells causes from effects": ("Optional", 1),
    "gives the day of each event": ("Optional", 1),
}
ITEMS = [
    f'{{"title": "item {n}", "description": "{kind} Criterion: {demand}", "weight": {weight}}}'
    for n, (demand, (kind, weight)) in enumerate(DEMANDS.items())
]
SAID = "All that is known of the ships is told here, and nothing else is. " * 12
WITH_TABLE, WITHOUT = f"{SAID}\n\n| port | ships |\n|---|---|\n| one | 7 |\n", SAID
RECIPE = """
[model]
base = "{base}"
[data]
sets = ["@set"]
[rollouts]
group_size = 2
tasks_a_step = 2
most_tokens = 60
context = 6000
[optimizer]
learning_rate = 1e-4
schedule = "constant"
batch_size = 4
epochs = 1
[adapter]
rank = 4
alpha = 8
[validation]
eval_every = 4
tasks = 2
[run]
device = "cpu"
save_every = 1
"""
GATE = """
stated = 2026-01-01T00:00:00Z
cycle_starts = 2026-01-01T00:00:00Z
gate_judge = "rules"
reward_judge = "rules of the recipe"
set_maker = "readers"
untouched = ["search_accuracy", "citation_support"]
superiority = {metric = "preference_accuracy", gain = 0.1}
"""
BY_RULES = 'kind = "rubrics"\nmost_tokens = 60\nprobe_each = 4\n'


@pytest.fixture
def task(tmp_path: Path) -> StepTask:
    """A task of a stage whose folders and files are there."""
    plan = tmp_path / "plan"
    plan.mkdir()
    save_chain_policy(tmp_path / "base", [["<answer>[", ITEMS[0], *(f", {item}" for item in ITEMS[1:]), "]</answer>"]])
    (plan / "recipe.toml").write_text(RECIPE.format(base=tmp_path / "base"))
    (plan / "gate.toml").write_text(GATE)
    (plan / "exam.toml").write_text(f'{BY_RULES}[judge]\nurl = "http://127.0.0.1:9/v1"\nmodel = "judge"\n')
    kinds = ("snapshot", "check", "set", "train", "exam", "gate")
    for kind in kinds:
        (tmp_path / kind).mkdir()
    stage = TrainingStage(
        name="rubric",
        role=ModelRole.RUBRIC,
        recipe="rubric_generator",
        config="recipe.toml",
        kind="preference-pairs",
        least_rows=20,
        gate="gate.toml",
        exam="exam.toml",
        server=ModelServer(address="http://127.0.0.1:9/v1", base="base"),
    )
    return StepTask(
        cycle=uuid4(),
        step="rubric.set",
        plan=str(plan),
        began_at=datetime.now(UTC),
        since=datetime(2026, 1, 1, tzinfo=UTC),
        checks=DataChecks(least_pairs=50),
        stage=stage,
        folders={kind: str(tmp_path / kind) for kind in kinds},
    )


def prefer_tables(task: StepTask, count: int = 72) -> StepOutcome:
    """Export what readers said who prefer tables, and check it."""
    pairs = [make_pair(n, accepted=f"{n}. {WITH_TABLE}", rejected=f"{n}. {WITHOUT}", split=choose_split(n)) for n in range(count)]
    write_export(Path(task.folders["snapshot"]) / "export", pairs)
    return check_data(task, Path(task.folders["check"]))


async def make_set(task: StepTask) -> StepOutcome:
    return await make_stage_set(task, Path(task.folders["set"]))


async def test_a_set_is_made_of_what_the_checks_left(task: StepTask) -> None:
    assert prefer_tables(task).verdict is StepVerdict.DONE
    made = await make_set(task)
    assert made.verdict is StepVerdict.DONE
    manifest = SetFolder(Path(task.folders["set"]) / SET).read_manifest()
    assert manifest.rows == {"train": 36, "validation": 12, "test": 24}


async def test_a_set_that_is_too_small_says_what_is_missing(task: StepTask) -> None:
    assert task.stage is not None
    wanting = task.model_copy(update={"stage": task.stage.model_copy(update={"least_rows": 50})})
    prefer_tables(wanting)
    made = await make_set(wanting)
    assert (made.verdict, made.detail) == (StepVerdict.LACKING, "36 rows for training of 50; 14 are missing")


def test_what_was_refused_of_a_small_set_is_named() -> None:
    told = tell_lack(0, 4, {"split": 9, "judge": 1}, Path("/cycle/set/refused.jsonl"))
    assert told == (
        "0 rows for training of 4; 4 are missing; refused were 9 as near-copies of held-out questions, or of their evidence, "
        "1 at the step judge: /cycle/set/refused.jsonl"
    )


async def test_a_set_that_another_build_began_is_made_anew_and_that_is_said(task: StepTask) -> None:
    prefer_tables(task)
    first = await make_set(task)
    folder = SetFolder(Path(task.folders["set"]) / SET)
    begun, origin = folder.read_origin(), folder.path / ORIGIN
    assert begun is not None
    origin.write_text(begun.model_copy(update={"code": "0123456789abcdef"}).model_dump_json())
    again = await make_set(task)
    [said] = again.figures["said"]
    assert said == f"the set begins anew: the build 0123456789abcdef began it, and this is {begun.code}"
    assert (again.verdict, again.figures["rows"]) == (StepVerdict.DONE, first.figures["rows"])
    assert (await make_set(task)).figures["said"] == []


async def test_what_the_checks_left_is_an_export_with_true_digests(task: StepTask) -> None:
    prefer_tables(task)
    kept = Path(task.folders["check"]) / "kept" / "pairs.jsonl"
    manifest = orjson.loads((kept.parent / "manifest.json").read_bytes())
    assert manifest["files"]["pairs.jsonl"]["sha256"] == hashlib.sha256(kept.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("exam.toml", BY_RULES, "have one judge, the rules of planted preferences"),
        ("exam.toml", "kind = 3", "exam.toml"),
        ("gate.toml", GATE.replace("gain = 0.1", "gain = 0"), "superiority.gain"),
        ("recipe.toml", "[model", "recipe.toml is no TOML"),
    ],
)
async def test_a_fault_in_a_file_of_the_plan_is_told_before_anything_is_made(
    task: StepTask, name: str, text: str, message: str
) -> None:
    prefer_tables(task)
    (Path(task.plan) / name).write_text(text)
    with pytest.raises(InvalidInput, match=message):
        await make_set(task)
    assert not (Path(task.folders["set"]) / SET).exists()


async def test_training_goes_on_to_an_exam_and_a_gate(task: StepTask) -> None:
    from training.loop.exam import examine
    from training.loop.gate import decide_step
    from training.loop.train import train_stage
    from training.serving.server import ServingOptions, open_server

    prefer_tables(task)
    await make_set(task)
    (Path(task.plan) / "exam.toml").write_text(BY_RULES)
    folders = {kind: Path(folder) for kind, folder in task.folders.items()}
    trained = await asyncio.to_thread(train_stage, task, folders["train"])
    assert trained.verdict is StepVerdict.REFUSED, "every answer has the same reward: there is nothing to learn"
    assert "no step was better" in trained.detail
    async with open_server(ServingOptions(folder=folders["train"].parent / "base", name="base", template="chatml")) as address:
        assert task.stage is not None
        server = task.stage.server.model_copy(update={"address": address})
        asked = task.model_copy(update={"stage": task.stage.model_copy(update={"server": server}), "holder": "base"})
        examined = await examine(asked, folders["exam"])
    assert examined.figures["items"] == 24
    assert examined.figures["means"]["preference_accuracy"] == {"before": 1.0, "after": 1.0}
    decided = decide_step(task, folders["gate"])
    assert decided.verdict is not StepVerdict.DONE
    assert "preference_accuracy" in decided.detail
    assert (folders["gate"] / "gate.md").exists()
