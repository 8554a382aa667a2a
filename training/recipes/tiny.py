"""A tiny random Qwen3 with a tokenizer of bytes and ChatML: enough to run a recipe's mechanics, and nothing else.

Head size 64, because vLLM serves no smaller one.
"""

from pathlib import Path
from typing import Any

from training.recipes.chatml import CHATML, END, PAD, START

CONTEXT = 16_384
LAYERS, HIDDEN, HEADS = 2, 64, 2


def build_tiny_model(folder: Path, seed: int = 0) -> None:
    """Write weights (safetensors, about 0.15 million) and the tokenizer into a folder. The same seed gives the same bytes."""
    import torch
    from transformers import Qwen3ForCausalLM

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Qwen3ForCausalLM(describe_tiny_model())
    model.save_pretrained(folder)
    build_tokenizer().save_pretrained(folder)


def describe_tiny_model() -> Any:
    """Return the configuration of the tiny model."""
    from transformers import Qwen3Config

    tokenizer = build_tokenizer()
    return Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=2 * HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=HEADS,
        head_dim=64,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )


def build_tokenizer() -> Any:
    """Return a tokenizer with one token for each byte, and ChatML's."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    inner = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(token, special=True) for token in (PAD, START, END)])
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token=END, pad_token=PAD, chat_template=CHATML, model_max_length=CONTEXT
    )
