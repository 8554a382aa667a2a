"""A trained toy adapter works a question through the product's own chain, by the engine of transformers."""

from pathlib import Path

import pytest

from app.domain.budget import AgentLimits
from app.domain.query import Effort, Language, SystemName
from tests.training.recipes.toy_runs import write_toy
from tests.training.rollouts.test_run_chain import make_live_tools
from tests.workflows.agent_kit import PROMPTS, TODAY
from training.recipes.starting import train
from training.rollouts.rows import make_rows
from training.rollouts.run_chain import ChainSetup, run_chain
from workflows.agents.codec import TagCodec
from workflows.agents.kit import Bounds
from workflows.systems.agent_sets import AGENTS
from workflows.systems.local_record import LocalRecord

NEEDED = "training needs what `make setup-train` installs"
SHORT = 12


async def test_a_trained_adapter_works_a_question_through_the_chain(tmp_path: Path) -> None:
    for name in ("torch", "trl", "peft"):
        pytest.importorskip(name, reason=NEEDED)
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from training.rollouts.chat_template import ChatTemplate
    from training.rollouts.engine import SamplingSettings
    from training.rollouts.sampler import Sampler
    from training.rollouts.transformers_engine import TransformersEngine, lend

    config = write_toy(tmp_path, "sft_cold_start", rows=4, optimizer={"epochs": 1}, run={"device": "cpu", "save_every": 99})
    said = config.read_text()
    config.write_text(said[: said.index("[stopping]")] + said[said.index("[run]") :])
    folder = train("sft_cold_start", config, tmp_path / "run", None, lambda _: None)

    tokenizer = AutoTokenizer.from_pretrained(folder.model)
    model = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(folder.path / "base"), folder.model)
    engine = TransformersEngine("toy", lend(model), pad_id=tokenizer.pad_token_id)
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
