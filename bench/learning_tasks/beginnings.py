"""The policies with which tasks begin: of random weights, then fine-tuned on examples of the task's own small language."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from training.recipes.config import RecipeConfig


def build_base(folder: Path, tokenizer: Any, seed: int, spread: float = 0.02) -> Path:
    """Write a tiny model with random weights of this standard deviation."""
    import torch
    from transformers import Qwen3ForCausalLM

    from training.rollouts.tiny_policy import describe_tiny_model

    torch.manual_seed(seed)
    described = describe_tiny_model(tokenizer)
    described.initializer_range = spread
    Qwen3ForCausalLM(described).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_tokenizer(phrases: Iterable[str]) -> Any:
    """Return a tokenizer of bytes, with phrases as tokens of their own: a policy that has them learns in minutes."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    from training.rollouts.chat_template import CHATML
    from training.rollouts.tiny_policy import END_OF_TURN, PAD, SPECIAL

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(text, special=True) for text in SPECIAL])
    inner.add_tokens([AddedToken(text, normalized=False) for text in phrases])
    return PreTrainedTokenizerFast(tokenizer_object=inner, eos_token=END_OF_TURN, pad_token=PAD, chat_template=CHATML)


def describe_sft(base: Path, seed: int, learning_rate: float, batch_size: int, epochs: float) -> RecipeConfig:
    """Return the configuration of SFT."""
    return RecipeConfig.model_validate(
        {
            "model": {"base": str(base)},
            "optimizer": {"learning_rate": learning_rate, "batch_size": batch_size, "epochs": epochs, "schedule": "linear"},
            "run": {"device": "cpu", "seed": seed, "samples": 2, "log_every": 20, "save_every": 1_000},
        }
    )
