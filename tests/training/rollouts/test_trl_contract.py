"""What our trainer takes from inside TRL, and what TRL does that makes us own the rest.

A test that fails here after an update of TRL says what changed; `training/rollouts/trainer.py` is then read against it.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the trainer needs torch and trl (make setup-train)")

import torch
from datasets import Dataset
from trl import DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer
from trl.trainer.dpo_trainer import DataCollatorForPreference
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling
from trl.trainer.utils import add_fused_lm_head, use_adapter

from bench.tiny_policy import EOS, make_tiny_policy, make_tiny_tokenizer
from tests.training.rollouts.policies import make_trainer
from tests.training.rollouts.rollout_groups import PlantedGroups, make_rollout, make_row
from training.rollouts.trainer_config import REPLACED

pytestmark = pytest.mark.extra("trl")

GROUP = [(make_rollout(float(number), number=number), [make_row([2, 3, 4 + number], 2)]) for number in range(4)]
PROMPT = {"prompt": "w2 w3"}


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")


@pytest.mark.parametrize(
    ("hook", "arguments"),
    [
        (GRPOTrainer._generate_and_score_completions, ["self", "inputs"]),
        (GRPOTrainer._prepare_inputs, ["self", "generation_batch"]),
        (GRPOTrainer.training_step, ["self", "model", "inputs", "num_items_in_batch"]),
        (GRPOTrainer.compute_loss, ["self", "model", "inputs", "return_outputs", "num_items_in_batch"]),
        (GRPOTrainer._save_rng_state, ["self", "output_dir"]),
        (GRPOTrainer._load_optimizer_and_scheduler, ["self", "checkpoint"]),
        (GRPOTrainer._send_telemetry, ["self"]),
        (add_fused_lm_head, ["model", "temperature", "cast_lm_head_to_fp32", "outputs"]),
        (use_adapter, ["model", "adapter_name"]),
        (DPOTrainer._prepare_dataset, ["self", "dataset", "processing_class", "args", "dataset_name"]),
    ],
)
def test_the_hooks_that_we_use_take_what_they_took(hook: Callable[..., Any], arguments: Sequence[str]) -> None:
    found = list(inspect.signature(hook).parameters)
    assert found == arguments, f"TRL changed {hook.__qualname__}: it takes {found}"


def test_the_attributes_that_we_use_are_there(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, PlantedGroups(GROUP))
    for name in ("_buffered_inputs", "_tokenizer", "temperature", "num_iterations", "num_generations", "accelerator"):
        assert hasattr(trainer, name), f"TRL's trainer has no {name} any more"
    assert trainer.is_deepspeed_enabled is False
    assert trainer.accelerator.sync_gradients is True
    assert trainer._step == 0, "TRL counts parts of batches differently"
    assert trainer._metrics["train"]["anything"] == [], "TRL keeps metrics differently"
    assert trainer.loss_is_scaled_for_ga is True, "transformers would divide our loss by the accumulation steps"


def test_pairs_and_labels_that_are_ids_already_are_taken_as_they_are() -> None:
    pair = {"prompt_ids": [2, 3], "chosen_ids": [4, 5], "rejected_ids": [6]}
    assert DataCollatorForPreference(pad_token_id=0)([pair])["input_ids"].tolist() == [[2, 3, 4, 5], [2, 3, 6, 0]]
    labelled = {"input_ids": [2, 3, 4], "labels": [-100, 3, -100]}
    assert DataCollatorForLanguageModeling(pad_token_id=0)([labelled])["labels"].tolist() == [[-100, 3, -100]]


def test_rows_of_supervision_are_neither_prepared_nor_shuffled(tmp_path: Path) -> None:
    rows = [{"input_ids": [2, 3, n], "labels": [-100, 3, n]} for n in range(4, 12)]
    settings = {"use_cpu": True, "bf16": False, "report_to": "none", "per_device_train_batch_size": 1, "max_length": None}
    options = {"train_sampling_strategy": "sequential", "dataset_kwargs": {"skip_prepare_dataset": True}}
    arguments = SFTConfig(str(tmp_path), **settings, **options)
    trainer = SFTTrainer(
        make_tiny_policy(0), arguments, train_dataset=Dataset.from_list(rows), processing_class=make_tiny_tokenizer()
    )
    seen = [batch["labels"].tolist()[0] for batch in trainer.get_train_dataloader()]
    assert seen == [row["labels"] for row in rows]


def test_the_options_that_we_replace_are_trl_s(tmp_path: Path) -> None:
    gone = set(REPLACED) - {field.name for field in fields(GRPOConfig)}
    assert not gone, f"TRL's configuration has no {gone} any more"


def test_a_generation_batch_is_shuffled_as_one_split_and_used_for_each_iteration(tmp_path: Path) -> None:
    options = {"per_device_train_batch_size": 2, "steps_per_generation": 2, "num_iterations": 2, "max_steps": 4}
    trainer = make_trainer(tmp_path, PlantedGroups(GROUP), **options)
    made: list[int] = []

    def make_batch(inputs: Sequence[Mapping[str, Any]]) -> dict[str, torch.Tensor]:
        made.append(len(inputs))
        return {"ours": torch.arange(6), "also": torch.arange(6) * 10}

    trainer._generate_and_score_completions = make_batch  # type: ignore[method-assign]
    seen = []
    for step in range(8):
        trainer._step = step
        seen.append(trainer._prepare_inputs([PROMPT] * 4))
    assert made == [4, 4], "TRL makes generation batches at other steps, or of another size"
    assert all(torch.equal(part["ours"] * 10, part["also"]) for part in seen), "TRL does not shuffle a batch as one"
    first = torch.cat([part["ours"] for part in seen[:2]])
    assert sorted(first.tolist()) == list(range(6)), "TRL does not split a batch into equal parts"
    assert torch.equal(seen[0]["ours"], seen[2]["ours"]), "TRL does not use a batch again for the next iteration"


def test_our_state_is_written_before_the_file_that_completes_a_checkpoint(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, PlantedGroups(GROUP), save_strategy="steps", save_steps=1)
    found: list[bool] = []
    kept = trainer._save_rng_state

    def look(folder: str) -> None:
        kept(folder)
        found.append((Path(folder) / "trainer_state.json").exists())

    trainer._save_rng_state = look  # type: ignore[method-assign]
    trainer.train()
    assert found == [False], "transformers completes a checkpoint before our state is in it"
    assert (tmp_path / "checkpoint-1" / "rollouts-0.json").exists()


def test_the_fused_head_scores_in_float32_whatever_the_weights(tmp_path: Path) -> None:
    policy = make_tiny_policy(dtype=torch.float64)
    plain = policy(torch.tensor([[2, 3, 4]])).logits.log_softmax(-1)[0, 1, 4]
    add_fused_lm_head(policy, temperature=1.0, outputs=("log_probs", "entropy"))
    scored = policy(torch.tensor([[2, 3, 4]]), labels=torch.tensor([[-100, -100, 4]]), fused_lm_head=True)
    assert scored.log_probs.dtype is torch.float32, "TRL's head keeps float64 now: policy_logprobs needs no second way"
    assert scored.log_probs[0].tolist() == [0.0, pytest.approx(plain.item(), abs=1e-5)]
    assert scored.entropy.shape == (1, 2)


def make_stock(folder: Path, output: Mapping[str, Any], rewards: Sequence[float | None], **options: Any) -> GRPOTrainer:
    """Make TRL's own trainer with a rollout function that returns `output`."""
    settings = {"max_steps": 1, "per_device_train_batch_size": 4, "num_generations": 4, "report_to": "none", **options}
    config = GRPOConfig(str(folder), use_cpu=True, bf16=False, **settings)
    return GRPOTrainer(
        make_tiny_policy(),
        lambda prompts, completions, **more: list(rewards),
        config,
        Dataset.from_list([PROMPT] * 4),
        processing_class=make_tiny_tokenizer(),
        rollout_func=lambda prompts, trainer: dict(output),
    )


def make_output(rows: int, completion: Sequence[int] = (4, EOS), logprob: float = -1.0) -> dict[str, Any]:
    return {
        "prompt_ids": [[2, 3]] * rows,
        "completion_ids": [list(completion)] * rows,
        "logprobs": [[logprob] * len(completion)] * rows,
    }


def score(trainer: GRPOTrainer) -> dict[str, Any]:
    trainer.model.train()
    scored: dict[str, Any] = trainer._generate_and_score_completions([dict(PROMPT) for _ in range(4)])
    return scored


def test_trl_takes_one_row_for_each_prompt(tmp_path: Path) -> None:
    trainer = make_stock(tmp_path, make_output(8), [1.0] * 8)
    with pytest.raises((ValueError, RuntimeError)):
        score(trainer)


def test_trl_does_not_correct_for_a_sampler_without_vllm(tmp_path: Path) -> None:
    scored = score(make_stock(tmp_path, make_output(4, logprob=-9.0), [0.0, 1.0, 0.0, 1.0]))
    assert "importance_sampling_ratio" not in scored, "TRL corrects for any sampler now: ours may go"


def test_trl_counts_a_row_without_an_end_as_truncated(tmp_path: Path) -> None:
    trainer = make_stock(tmp_path, make_output(4, completion=(4, 5)), [0.0, 1.0, 0.0, 1.0])
    score(trainer)
    assert trainer._metrics["train"]["completions/clipped_ratio"] == [1.0]


def test_trl_breaks_on_an_empty_row(tmp_path: Path) -> None:
    with pytest.raises(IndexError):
        score(make_stock(tmp_path, make_output(4, completion=()), [0.0, 1.0, 0.0, 1.0]))


def test_trl_leaves_a_reward_of_none_out(tmp_path: Path) -> None:
    scored = score(make_stock(tmp_path, make_output(4), [None, 1.0, 0.0, 0.5], scale_rewards="none"))
    assert scored["advantages"].tolist() == pytest.approx([0.0, 0.5, -0.5, 0.0])


def test_trl_loads_the_reference_anew_by_its_name(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError)):
        make_stock(tmp_path, make_output(4), [0.0] * 4, beta=0.1)


def test_trl_has_no_filter_of_groups() -> None:
    names = {field.name for field in fields(GRPOConfig)}
    found = {name for name in names if "dynamic" in name or "filter" in name or "resample" in name}
    assert found == {"logging_nan_inf_filter"}, f"TRL may filter groups itself now: {found}"
