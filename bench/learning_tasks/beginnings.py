"""The policies with which tasks begin: of random weights, then fine-tuned on examples of the task's own small language."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from training.recipes.config import RecipeConfig


def build_base(folder: Path, tokenizer: Any, seed: int) -> Path:
    """Write a tiny model with random weights."""
    import torch
    from transformers import Qwen3ForCausalLM

    from training.rollouts.tiny_policy import describe_tiny_model

    torch.manual_seed(seed)
    Qwen3ForCausalLM(describe_tiny_model(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_tokenizer(phrases: Iterable[str]) -> Any:
    """Return the tiny tokenizer with phrases as tokens of their own: a policy that has them learns in minutes."""
    from training.rollouts.tiny_policy import build_tiny_tokenizer

    tokenizer = build_tiny_tokenizer()
    tokenizer.add_tokens([*phrases])
    return tokenizer


def describe_sft(base: Path, seed: int, learning_rate: float, batch_size: int, epochs: float) -> RecipeConfig:
    """Return the configuration of SFT."""
    return RecipeConfig.model_validate(
        {
            "model": {"base": str(base)},
            "optimizer": {"learning_rate": learning_rate, "batch_size": batch_size, "epochs": epochs, "schedule": "linear"},
            "run": {"device": "cpu", "seed": seed, "samples": 2, "log_every": 20, "save_every": 1_000},
        }
    )
