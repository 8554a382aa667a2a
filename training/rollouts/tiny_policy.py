"""A tiny random policy with a tokenizer of its own, made in a second: for tests, benches and the recipes' toy settings.

It knows nothing. What it shows is that sampling, rows and training fit together.
"""

from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from training.rollouts.chat_template import CHATML
from workflows.prompts.library import PromptLibrary

END_OF_TURN, PAD = "<|im_end|>", "<|endoftext|>"
SPECIAL = (PAD, "<|im_start|>", END_OF_TURN)
TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>")
VOCABULARY = 2_048
POSITIONS = 32_768


def build_tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Make a byte-level tokenizer of 2,048 ids, learned from the prompts of the product, with a ChatML template.

    The tags of agents are single ids, but not special ones, as in Qwen3.
    """
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    size = VOCABULARY - len(SPECIAL) - len(TAGS)
    tokenizer.train_from_iterator(_list_texts(), BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False))
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in SPECIAL])
    tokenizer.add_tokens([AddedToken(text, normalized=False) for text in TAGS])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=END_OF_TURN, pad_token=PAD)
    fast.chat_template = CHATML
    return fast


def build_tiny_model(tokenizer: PreTrainedTokenizerFast, seed: int = 0) -> Qwen3ForCausalLM:
    """Make a random Qwen3 of two layers in float32, with heads of size 64 (vLLM loads no smaller ones)."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Qwen3ForCausalLM(describe_tiny_model(tokenizer))


def describe_tiny_model(tokenizer: PreTrainedTokenizerFast) -> Qwen3Config:
    """Return the configuration of the tiny model."""
    return Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=64,
        max_position_embeddings=POSITIONS,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def save_tiny_policy(folder: Path, seed: int = 0) -> Path:
    """Write a tiny policy as a folder that transformers and vLLM load (safetensors, tokenizer, template). Return the folder."""
    tokenizer = build_tiny_tokenizer()
    build_tiny_model(tokenizer, seed).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _list_texts() -> Iterator[str]:
    library = PromptLibrary.load()
    yield from sorted(library.literals)
