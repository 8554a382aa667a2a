"""Report-RL at toy size, through the command, with a judge behind a socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from app.domain.budget import Usage
from app.domain.chat import Completion
from app.domain.errors import InvalidInput
from app.domain.query import Language
from app.domain.split import Split
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.support.stack import run_rubrica
from tests.support.training_sets import make_report_data, write_set
from tests.training.recipes.enclosing_policy import save_enclosing_policy
from tests.training.recipes.toy_runs import OFFLINE, cut_off, read_curves, write_toy
from training.recipes.catalogue import load_recipe
from training.recipes.config import read_config
from training.recipes.policy import load_tokenizer
from training.recipes.report_rl.config import ReportDataSection, Writer
from training.recipes.report_rl.data import ReportLine, make_task, read_tasks
from training.recipes.report_rl.judging import open_judging
from training.recipes.report_rl.rollout import judge_rollout, write_report
from training.recipes.report_rl.section_writers import SectionSetup
from training.recipes.run_folder import TrainingFolder
from training.recipes.starting import train as go_on
from training.rewards.notations import Notation
from training.rollouts.nouns import Reward, Rollout, RolloutEnd
from training.rollouts.rollout_work import Draw
from workflows.agents.kit import Bounds
from workflows.chat_models.scripted import ScriptedModel
from workflows.prompts.library import PromptLibrary
from workflows.systems.local_record import LocalRecord

CUT_SHORT: dict[str, dict[str, Any]] = {
    "reward": {"race": True, "relevance": "judge"},
    "filter": {"least_spread": 1e-6},
    "run": {"seed": 3, "device": "cpu", "save_every": 1, "keep": 9},
    "validation": {"eval_every": 2, "tasks": 2},
    "optimizer": {"epochs": 0.5},
    "rollouts": {"rows": 1, "most_tokens": 12},
}


@pytest.fixture
async def judge() -> AsyncIterator[dict[str, str]]:
    """The section of a judge whose points depend on what it reads."""
    async with serve_model_stub(ModelStub()) as served:
        yield {"url": served.base_url, "model": "stub"}


@pytest.mark.extra("trl")
async def test_the_recipe_trains_against_a_judge_and_goes_on_where_it_was_cut_off(tmp_path: Path, judge: dict[str, str]) -> None:
    data = ReportDataSection(sets=(write_set(tmp_path / "report-data", "report-data", 10),))
    base = save_enclosing_policy(tmp_path / "base", read_tasks(data, Writer.ONE_CALL, Split.TRAIN))
    config = write_toy(tmp_path, "report_rl", judge=judge, model={"base": str(base)}, **CUT_SHORT)
    out = tmp_path / "run"
    done = await asyncio.to_thread(
        run_rubrica, tmp_path / "home", "train", "report_rl", "--config", str(config), "--out", str(out), **OFFLINE
    )
    assert done.returncode == 0, done.stderr
    whole = TrainingFolder(out)
    steps = {name for each in whole.read_metrics() for name in each.values}
    assert {"part/race", "part/citation", "part/format", "ends/capped", "reward", "validation", "clipped/high"} <= steps
    assert max(each.values.get("reward_spread", 0.0) for each in whole.read_metrics()) > 0
    assert (whole.model / "adapter_model.safetensors").exists()
    assert 'class="trained"' in (out / "samples.html").read_text()

    again = await asyncio.to_thread(go_on, "report_rl", config, cut_off(out, 1, tmp_path / "cut"), None, lambda _: None)
    assert read_curves(again) == read_curves(whole)
    weights = "adapter_model.safetensors"
    assert (again.model / weights).read_bytes() == (whole.model / weights).read_bytes()


def test_forms_are_chosen(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "report-data", "report-data", 12)
    long, short, mixed = (
        read_tasks(ReportDataSection(sets=(folder,), form=form), Writer.ONE_CALL, Split.TRAIN)
        for form in ("long", "short", "mixed")
    )
    assert len(long) + len(short) == len(mixed) > len(long) > 0 < len(short)
    assert {task.material.notation for task in mixed} == {Notation.TAGS}
    assert {task.material.reference_citations for task in long} == {2}
    assert {task.material.reference_citations for task in short} == {0}
    assert all('<passage id="q2">' in task.material.prompt[1].content for task in long)
    assert all("<passage" not in task.material.prompt[1].content for task in short)


def read_row(number: int) -> ReportLine:
    return ReportLine.model_validate(
        {"id": "r", "query": "What of the port?", "language": Language.ENGLISH, **make_report_data(number)}
    )


SETUP = SectionSetup(PromptLibrary.load(), date(2026, 11, 2), Bounds())
GOOD = "# Port\n\nThe pier at Brindle was built of oak [q1]. The harbour of Brindle froze in winter [q2]."


async def reward_of(
    writer: Writer, answers: Sequence[str | Completion], end: RolloutEnd, tmp_path: Path
) -> tuple[Rollout, Reward]:
    """Sample one report by a scripted policy, and judge it by rules."""
    task, record = make_task(read_row(1), writer, SETUP.prompts), LocalRecord("e")
    outcome = await write_report(task, ScriptedModel(answers), record, writer, SETUP)
    rollout = Rollout(task.id, 0, record.trajectory, outcome.output, outcome.end, Reward(0.0))
    assert outcome.end is end
    config = read_config(write_toy(tmp_path, "report_rl", rows=3), load_recipe("report_rl").config)
    async with open_judging(config, tmp_path) as judge_in:
        return rollout, await judge_rollout(task, rollout, judge_in(task.language))


async def test_one_call_is_one_turn_and_what_it_encloses_is_rewarded(tmp_path: Path) -> None:
    rollout, reward = await reward_of(
        Writer.ONE_CALL, [f"<think>so</think><answer>{GOOD}</answer>"], RolloutEnd.FINISHED, tmp_path
    )
    assert (len(rollout.trajectory.turns), rollout.output) == (1, GOOD)
    assert reward.value == pytest.approx(0.1)


async def test_a_report_without_its_tag_has_the_least_reward_and_is_not_asked_for_again(tmp_path: Path) -> None:
    rollout, reward = await reward_of(Writer.ONE_CALL, [GOOD], RolloutEnd.FINISHED, tmp_path)
    assert (len(rollout.trajectory.turns), rollout.output) == (1, "")
    assert reward.value == pytest.approx(-1 - 0.3)


async def test_a_report_that_is_cut_off_is_capped_and_rewarded(tmp_path: Path) -> None:
    cut = Completion(text=f"<think>so</think><answer>{GOOD}", model="m", finish_reason="length", usage=Usage())
    rollout, reward = await reward_of(Writer.ONE_CALL, [cut], RolloutEnd.CAPPED, tmp_path)
    assert (len(rollout.trajectory.turns), reward.value) == (1, pytest.approx(-1.3))


async def test_section_writers_are_turns_under_one_reward(tmp_path: Path) -> None:
    sections = ["The pier at Brindle was built of oak [q1].", "The harbour of Brindle froze in winter [q2]."]
    answers = [f"<think>so</think><answer>{section}</answer>" for section in sections]
    rollout, reward = await reward_of(Writer.SECTIONS, answers, RolloutEnd.FINISHED, tmp_path)
    assert {turn.agent for turn in rollout.trajectory.turns} == {"report/section/1", "report/section/2"}
    assert rollout.output.count("## ") == 2
    assert reward.value == pytest.approx(0.1)


@pytest.mark.extra("trl")
async def test_a_query_specific_rubric_counts_beside_the_other_parts_where_the_configuration_says_so(tmp_path: Path) -> None:
    """QSR Eq. 2: the generator writes the rubric once, the judge rates the report by each item."""
    from training.recipes.report_rl.work import open_work

    said = [{"title": f"Part {n}", "description": f"Key Criterion: has part {n}.", "weight": 5} for n in range(7)]

    def answer(prompt: StubPrompt) -> str:
        return json.dumps({"criteria": said} if prompt.step == "rubric" else {"analysis": "a", "rating": 10})

    async with serve_model_stub(ModelStub(answerer=answer)) as served:
        asked = {"url": served.base_url, "model": "stub"}
        changes = {"judge": asked, "generator": asked | {"model": "writer"}, "reward": {"rubric_weight": 0.5}}
        config = read_config(write_toy(tmp_path, "report_rl", rows=3, **changes), load_recipe("report_rl").config)
        task = make_task(read_row(1), Writer.ONE_CALL, SETUP.prompts)
        async with open_work(config, tmp_path, lambda _: ScriptedModel([f"<think>so</think><answer>{GOOD}</answer>"])) as work:
            record = LocalRecord("e")
            outcome = await work.run(Draw(task, 0, 0, 0, 0), record)
            reward = await work.judge(task, Rollout(task.id, 0, record.trajectory, outcome.output, outcome.end, Reward(0.0)))
    assert reward.parts["rubric"] == 1.0
    assert reward.value == pytest.approx(0.1 + 0.5)


def test_a_rubric_without_its_generator_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="set both, or neither"):
        read_config(write_toy(tmp_path, "report_rl", rows=3, reward={"rubric_weight": 0.5}), load_recipe("report_rl").config)


@pytest.mark.extra("trl")
def test_section_writers_keep_the_tasks_whose_whole_prompt_they_never_see(tmp_path: Path) -> None:
    from training.recipes.report_rl.train import FittingTasks, read_fitting

    def read(kind: Writer) -> FittingTasks:
        changes = {"writer": {"kind": str(kind)}, "data": {"form": "long"}, "rollouts": {"context": 14, "most_tokens": 12}}
        config = read_config(write_toy(tmp_path, "report_rl", rows=6, **changes), load_recipe("report_rl").config)
        return read_fitting(config, load_tokenizer(config.model), Split.TRAIN)

    with pytest.raises(InvalidInput, match="raise context"):
        read(Writer.ONE_CALL)
    found = read(Writer.SECTIONS)
    assert (len(found.tasks) > 0, found.too_long, set(found.tokens)) == (True, 0, {2})
