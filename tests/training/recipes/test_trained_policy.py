"""From a cold start to a served policy: SFT, its adapter merged, Report-RL from there, merged again, a question worked."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from app.domain.budget import AgentLimits
from app.domain.errors import InvalidInput
from app.domain.query import Effort, Language, SystemName
from tests.support.stack import run_rubrica
from tests.training.recipes.toy_runs import OFFLINE, write_toy
from tests.training.rollouts.test_run_chain import make_live_tools
from tests.workflows.agent_kit import PROMPTS, TODAY
from training.recipes.merging import merge_adapter
from training.recipes.run_folder import TrainingFolder
from training.recipes.starting import train
from training.rollouts.rows import make_rows
from training.rollouts.run_chain import ChainSetup, run_chain
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Bounds
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local_record import LocalRecord

pytestmark = pytest.mark.extra("trl")

SHORT = 12


def merge(run: TrainingFolder, out: Path, *options: str) -> Path:
    """Merge by the command."""
    done = run_rubrica(out.parent / "home", "merge-adapter", str(run.path), "--out", str(out), *options, **OFFLINE)
    assert (done.returncode, done.stdout.strip()) == (0, str(out)), done.stderr
    return out


def train_cold_start(folder: Path) -> TrainingFolder:
    config = write_toy(folder, "sft_cold_start", rows=4, optimizer={"epochs": 1}, run={"device": "cpu", "save_every": 99})
    said = config.read_text()
    config.write_text(said[: said.index("[stopping]")] + said[said.index("[run]") :])
    return train("sft_cold_start", config, folder / "sft", None, lambda _: None)


def test_an_adapter_is_merged_learned_on_and_served(tmp_path: Path) -> None:
    sft = train_cold_start(tmp_path)
    merged = merge(sft, tmp_path / "policy")
    require_same_policy(sft, merged)
    card = (merged / "README.md").read_text()
    assert "base_model: tiny-random" in card
    assert "`adapter_model.safetensors`: " in card

    changes: dict[str, Any] = {"model": {"base": "policy"}, "optimizer": {"epochs": 0.5}, "validation": {"tasks": 2}}
    config = write_toy(tmp_path, "report_rl", rows=6, **changes)
    reports = train("report_rl", config, tmp_path / "reports", None, lambda _: None)
    assert reports.origin.base.keys() == {"model.safetensors", "config.json", "tokenizer.json"}
    asyncio.run(work_a_question(merge(reports, tmp_path / "writer", "--unimproved")))

    with pytest.raises(InvalidInput, match="exists; name a new folder"):
        merge_adapter(sft.path, merged)
    sft.keep_figures({"best step": 0, "best validation": 0.25})
    with pytest.raises(InvalidInput, match=r"the one that it began with \(validation 0.25, .* say --unimproved"):
        merge_adapter(sft.path, tmp_path / "again")
    assert merge_adapter(sft.path, tmp_path / "kept", unimproved=True).exists()
    (sft.model / "adapter_model.safetensors").rename(sft.model / "model.safetensors")
    with pytest.raises(InvalidInput, match="nothing to merge"):
        merge_adapter(sft.path, tmp_path / "again")


def require_same_policy(run: TrainingFolder, merged: Path) -> None:
    """Require that merged weights give the adapter's logits, and others than the base."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    ids = torch.arange(40).reshape(2, 20)
    with torch.no_grad():
        base = AutoModelForCausalLM.from_pretrained(run.path / "base")
        before = base(ids).logits
        expected = PeftModel.from_pretrained(base, run.model)(ids).logits
        found = AutoModelForCausalLM.from_pretrained(merged)(ids).logits
    assert torch.allclose(found, expected, atol=1e-5)
    assert not torch.allclose(found, before, atol=1e-3)


async def work_a_question(model: Path) -> None:
    """Have a model work a question through the product's chain, by the engine of transformers."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from training.rollouts.chat_template import ChatTemplate
    from training.rollouts.engine import SamplingSettings
    from training.rollouts.sampler import Sampler
    from training.rollouts.transformers_engine import TransformersEngine, lend

    tokenizer = AutoTokenizer.from_pretrained(model)
    engine = TransformersEngine("toy", lend(AutoModelForCausalLM.from_pretrained(model)), pad_id=tokenizer.pad_token_id)
    settings = SamplingSettings(stop_ids=(tokenizer.eos_token_id,), most_tokens=SHORT, seed=1)
    policy, record = Sampler(engine, ChatTemplate(tokenizer), settings, 16_000), LocalRecord("toy")
    limits, bounds = AgentLimits(max_turns=2), Bounds(subtasks=1, sections=1)
    setup = ChainSetup(
        SystemName.MINDDR, AGENTS[SystemName.MINDDR], TagCodec(), PROMPTS, make_live_tools, TODAY, limits, bounds, Effort.QUICK
    )
    outcome = await run_chain("Why did tariffs rise?", Language.ENGLISH, policy, record, setup)
    assert outcome.output.startswith("# ")
    rows = make_rows(record.trajectory)
    sampled = [t.completion.sampled for t in record.trajectory.turns if t.completion and t.completion.sampled]
    assert sum(sum(row.sampled) for row in rows) == sum(len(each.completion_ids) for each in sampled) > 0
