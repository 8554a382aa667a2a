"""The copy that is sampled from while the policy is trained: it is another policy until it is given the weights."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="training needs what `make setup-train` installs")

import torch
from peft import LoraConfig

from bench.tiny_policy import EOS, PAD, make_tiny_policy
from tests.training.rollouts.policies import make_trainer
from tests.training.rollouts.rollout_groups import PlantedGroups, make_rollout, make_row
from training.recipes.reinforcement.policy_source import OwnWeights
from training.rollouts.engine import GREEDY, Sample, SamplingSettings

pytestmark = pytest.mark.extra("trl")

GROUP = [(make_rollout(float(number), number=number), [make_row([2, 3, 4 + number], 2)]) for number in range(4)]
ADAPTER = LoraConfig(r=2, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM", init_lora_weights=False)
SETTINGS = SamplingSettings(stop_ids=(EOS,), temperature=GREEDY)


async def sample(policy: OwnWeights) -> Sample:
    async with policy.open_engine() as engine:
        return await engine.sample([2, 3, 4], 4, SETTINGS, seed=1)


def move_weights(model: torch.nn.Module) -> None:
    """Change what is trained in place, as an optimizer does."""
    with torch.no_grad():
        for weights in model.parameters():
            if weights.requires_grad:
                weights.add_(torch.randn(weights.shape, generator=torch.Generator().manual_seed(1)))


@pytest.mark.parametrize("bf16", [False, True], ids=["float32", "bfloat16"])
@pytest.mark.parametrize("adapter", [None, ADAPTER], ids=["whole", "adapter"])
async def test_a_step_of_the_trainer_moves_the_copy_only_when_it_is_given_the_weights(
    tmp_path: Path, adapter: Any, bf16: bool
) -> None:
    trainer = make_trainer(
        tmp_path, PlantedGroups(GROUP), policy=make_tiny_policy(), peft_config=adapter, bf16=bf16, gradient_checkpointing=True
    )
    trainer.train()
    trained = trainer.accelerator.unwrap_model(trainer.model)
    policy = OwnWeights(lambda: trained, rows=1, pad_id=PAD, copies=True, autocast=trainer.accelerator.autocast)
    policy.give_weights(1)
    before = await sample(policy)
    trained.train()
    move_weights(trained)
    assert await sample(policy) == before
    assert trained.training
    policy.give_weights(2)
    assert (await sample(policy)).logprobs != before.logprobs
