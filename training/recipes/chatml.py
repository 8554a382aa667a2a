"""Conversations as token ids with the mask of what is trained.

Each piece of a conversation is tokenised by itself, as when it is sampled: what the policy wrote begins after the ids of its
prompt and ends with the token that ends a turn. The text of a special token inside a message is ordinary text. A template that
rewrites earlier messages (as Qwen3's drops their thoughts) would show the policy another history than the one it is trained on,
so it is refused; `CHATML` keeps all messages as they are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.chat import ChatRole
from app.domain.errors import InvalidInput
from training.rollouts.chat_template import MessageEncoder
from training.synthesis.trajectories.conversations import TrainedMessage

IGNORED = -100
"""The label of a token without a gradient."""


@dataclass(frozen=True, slots=True)
class MaskedIds:
    """Token ids, and which of them are trained. Both have one entry a token."""

    ids: tuple[int, ...]
    trained: tuple[bool, ...]

    @property
    def labels(self) -> list[int]:
        """The ids where they are trained, `IGNORED` elsewhere."""
        return [each if trained else IGNORED for each, trained in zip(self.ids, self.trained, strict=True)]


def mask_conversation(messages: Sequence[TrainedMessage], tokenizer: Any) -> MaskedIds:
    """Return a conversation's ids with its mask.

    Raises:
        InvalidInput: the template rewrites earlier messages, or does not end a turn with the end token.
    """
    ids: list[int] = []
    trained: list[bool] = []
    encoder = MessageEncoder(tokenizer)
    for text, is_trained in _list_pieces(_mask_special(messages, encoder), tokenizer):
        piece = list(encoder.encode(text))
        ids += piece
        trained += [is_trained] * len(piece)
    return MaskedIds(tuple(ids), tuple(trained))


def mask_answer(prompt: Sequence[TrainedMessage], answer: str, tokenizer: Any) -> MaskedIds:
    """Return a prompt with its answer: the answer and its end are trained, nothing else."""
    told = [message.model_copy(update={"trained": False}) for message in prompt]
    return mask_conversation([*told, TrainedMessage(role=ChatRole.ASSISTANT, content=answer, trained=True)], tokenizer)


def encode_prompt(messages: Sequence[TrainedMessage], tokenizer: Any) -> tuple[int, ...]:
    """Return the ids after which the policy answers."""
    encoder = MessageEncoder(tokenizer)
    return tuple(encoder.encode(_render(_mask_special(messages, encoder), tokenizer, prompt=True)))


def _mask_special(messages: Sequence[TrainedMessage], encoder: MessageEncoder) -> list[TrainedMessage]:
    return [message.model_copy(update={"content": encoder.mask_special(message.content)}) for message in messages]


def _list_pieces(messages: Sequence[TrainedMessage], tokenizer: Any) -> Iterator[tuple[str, bool]]:
    """Yield the text of a conversation in pieces, each trained as a whole or not at all."""
    said = ""
    for number, message in enumerate(messages):
        if not message.trained:
            continue
        prompt = _render(messages[:number], tokenizer, prompt=True)
        turn = _render(messages[: number + 1], tokenizer)
        answer, ended, rest = _cut(turn, prompt).rpartition(tokenizer.eos_token)
        if not ended:
            raise InvalidInput(f"the chat template ends no turn with {tokenizer.eos_token!r}; set [model] template = 'chatml'")
        yield _cut(prompt, said), False
        yield answer + ended, True
        said = turn[: len(turn) - len(rest)]
    yield _cut(_render(messages, tokenizer), said), False


def _cut(text: str, said: str) -> str:
    if not text.startswith(said):
        raise InvalidInput("the chat template rewrites earlier messages; set [model] template = 'chatml', and serve with that")
    return text[len(said) :]


def _render(messages: Sequence[TrainedMessage], tokenizer: Any, prompt: bool = False) -> str:
    said = [{"role": message.role.value, "content": message.content} for message in messages]
    return str(tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=prompt)) if said or prompt else ""
