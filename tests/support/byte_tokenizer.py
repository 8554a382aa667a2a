"""A tokenizer of bytes, some longer pieces and three special tokens, as the sampler uses one of transformers."""

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
PIECES = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>", "search", "tariff", " the ")
FIRST_PIECE = 256 + len(SPECIAL)
END_OF_TURN = 256 + SPECIAL.index("<|im_end|>")
_SPECIAL = re.compile("(" + "|".join(map(re.escape, SPECIAL)) + ")")
_PIECES = re.compile("(" + "|".join(map(re.escape, PIECES)) + ")")


class ByteTokenizer:
    """Ids below 256 are bytes. A text has several tokenisations; `encode` gives the one with the longest pieces."""

    def __init__(self, sound: bool = True) -> None:
        """With `sound` false the template leaves thoughts of earlier turns out, as Qwen3's does."""
        self._sound = sound
        self.added_tokens_decoder = {256 + n: SimpleNamespace(content=text, special=True) for n, text in enumerate(SPECIAL)}

    def apply_chat_template(self, conversation: Any, *, tokenize: bool, add_generation_prompt: bool) -> str:
        told = ""
        for message in conversation:
            content = message["content"]
            if not self._sound and message["role"] == "assistant":
                content = re.sub(r"<think>.*?</think>", "", content, flags=re.DOTALL)
            told += f"<|im_start|>{message['role']}\n{content}<|im_end|>\n"
        return told + "<|im_start|>assistant\n" * add_generation_prompt

    def encode(self, text: str, *, add_special_tokens: bool, split_special_tokens: bool) -> list[int]:
        parts = [text] if split_special_tokens else _SPECIAL.split(text)
        return [id_ for n, part in enumerate(parts) for id_ in ([256 + SPECIAL.index(part)] if n % 2 else _encode_pieces(part))]

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool) -> str:
        texts = {256 + n: b"" if skip_special_tokens else text.encode() for n, text in enumerate(SPECIAL)}
        texts |= {FIRST_PIECE + n: text.encode() for n, text in enumerate(PIECES)}
        return b"".join(texts[i] if i in texts else bytes([i]) for i in token_ids).decode("utf-8", "replace")


def _encode_pieces(text: str) -> Iterator[int]:
    for n, part in enumerate(_PIECES.split(text)):
        if n % 2:
            yield FIRST_PIECE + PIECES.index(part)
        else:
            yield from part.encode("utf-8", "replace")
