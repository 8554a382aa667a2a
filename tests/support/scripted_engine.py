"""An engine whose ids are written by a script: what it was asked and what it said is kept, to compare rows with."""

import asyncio
import random
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from app.domain.chat import ChatRequest, ChatRole, Message
from training.rollouts.chat_template import Tokenizer
from training.rollouts.engine import Sample, SamplingSettings

_TURN = re.compile(r"<\|im_start\|>(system|user|assistant)\n(.*?)<\|im_end\|>\n?(?=<\|im_start\|>|$)", re.DOTALL)


class EngineCall(NamedTuple):
    """One call of an engine: the ids it was given, and what it sampled."""

    prompt: tuple[int, ...]
    sample: Sample


def read_conversation(text: str) -> ChatRequest:
    """Return the conversation that a prompt in ChatML shows, as far as it can be told."""
    return ChatRequest(messages=tuple(Message(role=ChatRole(role), content=said) for role, said in _TURN.findall(text)))


class ScriptedEngine:
    """Writes the ids that `write` returns for a conversation (the stop id included, or not), with random log-probabilities."""

    name = "policy"

    def __init__(self, tokenizer: Tokenizer, write: Callable[[ChatRequest], Sequence[int]], seed: int = 0) -> None:
        self._tokenizer = tokenizer
        self._write = write
        self._random = random.Random(seed)
        self.policy_version = 0
        self.calls: list[EngineCall] = []

    async def sample(self, prompt_ids: Sequence[int], most: int, settings: SamplingSettings, seed: int | None) -> Sample:
        """Sample what the script says, up to the first stop id."""
        await asyncio.sleep(0)
        conversation = read_conversation(self._tokenizer.decode(list(prompt_ids), skip_special_tokens=False))
        wanted = list(self._write(conversation)) or [settings.stop_ids[0]]
        stop = next((n for n, id_ in enumerate(wanted) if id_ in settings.stop_ids), len(wanted))
        ids = tuple(wanted[: min(stop + 1, most)])
        finish = "stop" if ids[-1] in settings.stop_ids else "length"
        sample = Sample(ids, tuple(-self._random.random() * 9 for _ in ids), finish)
        self.calls.append(EngineCall(tuple(prompt_ids), sample))
        return sample
