"""Makes a policy of random weights, small enough for tests: a Qwen3 of two layers, and its tokenizer."""

from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

VOCABULARY = 24
PAD, EOS = 0, 1


def make_tiny_policy(seed: int = 0, dtype: torch.dtype = torch.float32) -> Any:
    """Return the model; the same seed gives the same weights."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=8,
        max_position_embeddings=64,
        tie_word_embeddings=False,
        initializer_range=0.3,
        pad_token_id=PAD,
        bos_token_id=None,
        eos_token_id=EOS,
    )
    return Qwen3ForCausalLM(config).to(dtype)


def make_tiny_tokenizer() -> Any:
    """Return a tokenizer whose words are `w2`, `w3` and so on."""
    words = {"<pad>": PAD, "<eos>": EOS, **{f"w{number}": number for number in range(2, VOCABULARY)}}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<pad>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")
