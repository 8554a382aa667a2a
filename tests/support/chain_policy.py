"""A policy whose answers are known: a Markov chain over tokens, written as the weights of a tiny Qwen3.

Each piece of an answer is one token. What follows a token depends on nothing else: attention and its like add nothing, and the
head knows each token's followers, one as likely as the other. No training is needed, no prompt is too long, and a gradient may
change everything. So rewards find what they can read, and tell rollouts of one prompt apart.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from tokenizers import AddedToken

CERTAINTY = 14.0
"""The logit of what follows. Of 2,000 other tokens one comes in 500 draws."""


def save_chain_policy(folder: Path, answers: Sequence[Sequence[str]]) -> None:
    """Write the policy as a folder that transformers loads. An answer is a list of pieces; a piece may be in several answers."""
    import torch
    from transformers import Qwen3ForCausalLM

    from training.rollouts.tiny_policy import END_OF_TURN, build_tiny_tokenizer, describe_tiny_model

    tokenizer = build_tiny_tokenizer()
    pieces = dict.fromkeys(piece for answer in answers for piece in answer)
    tokenizer.add_tokens([AddedToken(piece, normalized=False) for piece in pieces])
    start = tokenizer.encode("assistant\n")[-1]
    followers = set(_list_followers([tokenizer.convert_tokens_to_ids(list(answer)) for answer in answers], start))
    followers |= {
        (tokenizer.convert_tokens_to_ids(answer[-1]), tokenizer.convert_tokens_to_ids(END_OF_TURN)) for answer in answers
    }
    torch.manual_seed(0)
    config = describe_tiny_model(tokenizer)
    config.tie_word_embeddings = False
    model = Qwen3ForCausalLM(config)
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        known = torch.nn.functional.normalize(model.model.embed_tokens.weight, dim=1) / config.hidden_size**0.5
        model.lm_head.weight.zero_()
        for token, follower in sorted(followers):
            model.lm_head.weight[follower] += CERTAINTY * known[token]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _list_followers(answers: Sequence[Sequence[int]], start: int) -> Iterator[tuple[int, int]]:
    for answer in answers:
        yield from pairwise([start, *answer])
