"""A chat template whose earlier text never changes, and its token ids.

A policy's own answers are never tokenised: a conversation is its sampled ids with the template's text in between.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from app.domain.chat import ChatRole, Message
from app.domain.errors import SetupError

CHATML_END = "<|im_end|>"
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A template that keeps earlier turns as they are, for every model that knows `<|im_start|>` and `<|im_end|>`."""
_ANSWER = "\ue002"
_MASKED = re.compile("\ue000(\\d+)\ue001")
_TRIED_ANSWERS = (
    '<think>first</think>\n<tool_call>{"name": "search", "arguments": {"query": ["a"]}}</tool_call>',
    " \n<think>then</think><answer>done</answer>\n",
)


class Tokenizer(Protocol):
    """What is used of a tokenizer of transformers."""

    @property
    def added_tokens_decoder(self) -> Mapping[int, Any]:
        """The added tokens by id; each has `content` and `special`."""
        ...

    def apply_chat_template(self, conversation: Any, *, tokenize: bool, add_generation_prompt: bool) -> Any:
        """Return the text of a conversation."""
        ...

    def encode(self, text: str, *, add_special_tokens: bool, split_special_tokens: bool) -> list[int]:
        """Return the ids of a text."""
        ...

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool) -> Any:
        """Return the text of ids."""
        ...


class MessageEncoder:
    """Turns the text of conversations into ids, where the text of a special token inside a message is ordinary text.

    Neither a source nor the policy can end a turn by writing `<|im_end|>`. Messages are masked before a template renders them.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        special = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
        self._special = sorted(special, key=len, reverse=True)
        self._ordinary = [self._encode_text(text, split=True) for text in self._special]
        self._in_text = re.compile("|".join(map(re.escape, self._special)) or r"(?!)")

    def mask_special(self, content: str) -> str:
        """Return a message with marks in place of the text of special tokens."""
        return self._in_text.sub(lambda found: f"\ue000{self._special.index(found.group())}\ue001", content)

    def encode(self, text: str) -> Iterator[int]:
        """Yield the ids of a text with such marks. Special tokens outside of messages are what they are."""
        for n, piece in enumerate(_MASKED.split(text)):
            if n % 2 and int(piece) < len(self._ordinary):
                yield from self._ordinary[int(piece)]
            elif not n % 2 and piece:
                yield from self._encode_text(piece, split=False)

    def _encode_text(self, text: str, *, split: bool) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=split)


class ChatTemplate:
    """Conversations as token ids.

    Raises (when it is made):
        SetupError: the template changes earlier turns, or refuses conversations that agents have.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._encoder = MessageEncoder(tokenizer)
        _check_prefixes(self)

    def encode_opening(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the ids of a whole conversation, up to where the policy's answer begins."""
        return tuple(self._encoder.encode(self.render(messages)))

    def encode_following(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Return the ids from behind an answer of the policy, through these messages, to where its next answer begins."""
        return tuple(self._encoder.encode(self._render_following(messages)))

    def decode(self, ids: Sequence[int]) -> str:
        """Return an answer's text, without special tokens."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))

    def render(self, messages: Sequence[Message]) -> str:
        """Return the text of a conversation, with marks where messages hold the text of special tokens."""
        told = [{"role": m.role.value, "content": self._encoder.mask_special(m.content)} for m in messages]
        return str(self._tokenizer.apply_chat_template(told, tokenize=False, add_generation_prompt=True))

    def _render_following(self, messages: Sequence[Message]) -> str:
        before = (_say_as(ChatRole.USER, "-"), _say_as(ChatRole.ASSISTANT, _ANSWER))
        return self.render((*before, *messages)).partition(_ANSWER)[2]


def _check_prefixes(template: ChatTemplate) -> None:
    """Check on a short conversation that each prompt begins with everything before it."""
    said = [_say_as(ChatRole.SYSTEM, "You search."), _say_as(ChatRole.USER, "Why?")]
    observed = [_say_as(ChatRole.USER, "<tool_response>\nIt was so.\n</tool_response>"), _say_as(ChatRole.USER, "Now?")]
    try:
        text = template.render(said)
        for answer in _TRIED_ANSWERS:
            said += [_say_as(ChatRole.ASSISTANT, answer), *observed]
            text += answer + template._render_following(observed)
            if template.render(said) != text:
                raise SetupError(_describe_change(template.render(said), text))
    except SetupError:
        raise
    except Exception as error:
        raise SetupError(f"the chat template refuses a conversation that agents have: {error}. {_ADVICE}") from error


def _describe_change(rendered: str, expected: str) -> str:
    pairs = zip(rendered, expected, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(rendered), len(expected)))
    return (
        "the chat template changes earlier turns, so that a conversation cannot be continued by its token ids: it writes "
        f"{rendered[same : same + 40]!r} where {expected[same : same + 40]!r} was. {_ADVICE}"
    )


_ADVICE = (
    "Give the tokenizer a template that writes every turn in the same way wherever it stands, such as "
    "training.rollouts.chat_template.CHATML, and serve the policy with the same one"
)


def _say_as(role: ChatRole, content: str) -> Message:
    return Message(role=role, content=content)
