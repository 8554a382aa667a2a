"""The policies with which tasks begin: of random weights or pretrained, then fine-tuned on the task's own small language."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from training.recipes.chatml import MaskedIds, mask_conversation
from training.recipes.config import BaseModelSection, RecipeConfig
from training.recipes.policy import load_tokenizer
from training.synthesis.trajectories.conversations import TrainedConversation

MORE_TOKENS = 10
"""A pretrained model may use so many times more tokens: 16 phrases of a rubric are 216 tokens of SmolLM2."""
SMALLER_STEPS = 200
"""The learning rate of a pretrained model is that of a tiny one over this: 1e-5 in SFT and 2.5e-6 in RL. Nobody tuned it."""
ROWS_AT_ONCE = 4
"""So many examples a pretrained model reads at once. The logits of 4 x 2,000 tokens over 150,000 words take 5 GB."""
Device: TypeAlias = Literal["auto", "cpu"]


@dataclass(frozen=True, slots=True)
class Start:
    """What the policies of a task begin with, and how they compute.

    `base` is a folder in the form of Hugging Face with weights and their tokenizer. Without it a task makes a tiny model of
    random weights, whose tokenizer has the task's phrases as tokens. The numbers in tasks are those of the tiny model.
    `dtype` is the type that policies compute in; weights are trained in float32. The device `auto` is the GPU.
    """

    base: Path | None = None
    dtype: Literal["float32", "bfloat16"] = "float32"
    device: Device = "cpu"

    def make_base(self, folder: Path, tokenizer: Any, seed: int, spread: float = 0.02) -> Path:
        """Return the folder of the base. The tiny one is written to `folder`, with this tokenizer."""
        return self.base or build_base(folder, tokenizer, seed, spread)

    def scale_tokens(self, count: int) -> int:
        """Return the limit for what the tiny model may say in `count` tokens."""
        return count * MORE_TOKENS if self.base else count

    def scale_rate(self, rate: float) -> float:
        """Return the learning rate where that of the tiny model is `rate`."""
        return rate / SMALLER_STEPS if self.base else rate

    def limit_rows(self, examples: int) -> int:
        """Return how many of a step's examples are read at once."""
        return min(examples, ROWS_AT_ONCE) if self.base else examples

    def split_step(self, examples: int) -> dict[str, int]:
        """Return the sizes of a step in `[optimizer]`."""
        rows = self.limit_rows(examples)
        return {"batch_size": rows, "accumulation": examples // rows}

    def describe_model(self, folder: Path) -> dict[str, str]:
        """Return `[model]` for the policy in a folder."""
        return {"base": str(folder), "dtype": self.dtype}

    def find_gpu(self) -> str:
        """Return the name of the GPU on which policies compute, empty where it is the CPU."""
        if self.device == "cpu":
            return ""
        import torch

        return str(torch.cuda.get_device_name(0))

    def list_machine(self) -> list[str]:
        """Return what a result adds to its machine: GPU, base and type. Tiny models on the CPU add nothing."""
        said = (self.find_gpu(), self.base.name if self.base else "", self.dtype)
        return [each for each in said if each] if self != Start() else []


def choose_device(asked: Device) -> Device:
    """Return the device that is asked for, and the CPU where there is no GPU: transformers refuses bfloat16 on `auto` there."""
    import torch

    return asked if torch.cuda.is_available() else "cpu"


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


def open_tokenizer(model: Path) -> Any:
    """Return a model's tokenizer as recipes load it, with their chat template."""
    return load_tokenizer(BaseModelSection(base=str(model)))


def mask_all(base: Path, shown: Sequence[TrainedConversation]) -> list[MaskedIds]:
    """Return conversations as the examples of SFT."""
    tokenizer = open_tokenizer(base)
    return [mask_conversation(conversation.messages, tokenizer) for conversation in shown]


def describe_sft(base: Path, start: Start, seed: int, learning_rate: float, examples_a_step: int, epochs: float) -> RecipeConfig:
    """Return the configuration of SFT. Learning rate and step are those of the tiny model."""
    optimizer = {"learning_rate": start.scale_rate(learning_rate), **start.split_step(examples_a_step)}
    return RecipeConfig.model_validate(
        {
            "model": start.describe_model(base),
            "optimizer": {**optimizer, "epochs": epochs, "schedule": "linear"},
            "run": {"device": start.device, "seed": seed, "samples": 2, "log_every": 20, "save_every": 1_000},
        }
    )
