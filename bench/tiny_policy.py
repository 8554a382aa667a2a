"""Makes the tiny policy of recipes with a vocabulary of 24 words, over which losses can be written out by hand."""

from typing import Any

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import PreTrainedTokenizerFast

from training.rollouts.tiny_policy import build_tiny_model

VOCABULARY = 24
PAD, EOS = 0, 1


def make_tiny_policy(seed: int = 0, dtype: torch.dtype = torch.float32) -> Any:
    """Return the model; the same seed gives the same weights."""
    return build_tiny_model(make_tiny_tokenizer(), seed).to(dtype)


def make_tiny_tokenizer() -> Any:
    """Return a tokenizer whose words are `w2`, `w3` and so on."""
    words = {"<pad>": PAD, "<eos>": EOS, **{f"w{number}": number for number in range(2, VOCABULARY)}}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<pad>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")
