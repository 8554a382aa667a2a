"""Runs of recipes' parts for a task: folders to train in, and policies to ask."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from training.recipes.chatml import MaskedIds
from training.recipes.config import RecipeConfig
from training.recipes.run_folder import TrainingFolder, TrainingOrigin

BEGAN = datetime(2026, 11, 2, tzinfo=UTC)


def build_tokenizer(phrases: Sequence[str]) -> Any:
    """Return a tokenizer of bytes, with these phrases as tokens of their own."""
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


def save_random_policy(folder: Path, seed: int, tokenizer: Any, spread: float = 0.02) -> Path:
    """Write a tiny model with random weights of this standard deviation, beside its tokenizer. Return the folder."""
    import torch
    from transformers import Qwen3ForCausalLM

    from training.rollouts.tiny_policy import describe_tiny_model

    torch.manual_seed(seed)
    described = describe_tiny_model(tokenizer)
    described.initializer_range = spread
    Qwen3ForCausalLM(described).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@contextmanager
def open_training(path: Path, recipe: str, config: RecipeConfig) -> Iterator[TrainingFolder]:
    """Open a folder to train in."""
    origin = TrainingOrigin(
        recipe=recipe,
        config=config.model_dump(mode="json"),
        code="",
        packages={},
        data={},
        base={},
        device="CPU",
        started_at=BEGAN,
    )
    folder = TrainingFolder(path)
    with folder.open_run(origin):
        yield folder


def train_on_examples(path: Path, config: RecipeConfig, examples: Sequence[MaskedIds]) -> Path:
    """Fine-tune on examples; return the folder of the model."""
    from training.recipes.ordering import lay_out_epochs
    from training.recipes.supervised import open_supervised
    from training.recipes.training_loop import finish, train_on

    with open_training(path, "sft", config) as folder:
        trainer = open_supervised(config, folder, lay_out_epochs(examples, config.optimizer.epochs, config.run.seed))
        train_on(trainer, folder)
        finish(trainer, config, folder)
        return folder.model


@asynccontextmanager
async def open_saved(model: Path, section: Any, temperature: float) -> AsyncIterator[Any]:
    """Open a saved policy as rollouts ask it: an `OpenPolicy`. `section` is the `[rollouts]` of a configuration."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from training.recipes.reinforcement.policy_source import NAME, open_policy
    from training.rollouts.chat_template import ChatTemplate
    from training.rollouts.transformers_engine import TransformersEngine, lend

    tokenizer = AutoTokenizer.from_pretrained(model)
    engine = TransformersEngine(NAME, lend(AutoModelForCausalLM.from_pretrained(model)), pad_id=tokenizer.pad_token_id, rows=64)
    yield open_policy(engine, ChatTemplate(tokenizer), section, tokenizer.eos_token_id, temperature)


def derive_seed(*told: object) -> int:
    """Return a seed that depends on what is told only."""
    return int.from_bytes(hashlib.sha256(repr(told).encode()).digest()[:4], "big")


def run_now(coroutine: Any) -> Any:
    """Wait for a coroutine."""
    return asyncio.run(coroutine)
