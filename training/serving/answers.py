"""The forms of answers, as vLLM gives them."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import orjson

from training.rollouts.engine import Sample
from training.serving.answer_text import AnswerText
from training.serving.requests import ChatBody, TokensBody
from training.serving.served_models import ServedModel

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """What all events of one answer begin with."""

    model: str
    id: str = field(default_factory=lambda: uuid4().hex)
    created: int = field(default_factory=lambda: int(time.time()))

    def write(self, kind: str, choices: Sequence[dict[str, Any]], usage: dict[str, int] | None) -> dict[str, Any]:
        """Return an answer, or an event of it, of a kind (`chat.completion`)."""
        head = {"id": f"cmpl-{self.id}", "object": kind, "created": self.created, "model": self.model}
        return {**head, "choices": choices, "usage": usage}


def count_usage(prompt: Sequence[int], sample: Sample) -> dict[str, int]:
    """Count the tokens of a prompt and its answer."""
    asked, said = len(prompt), len(sample.ids)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def make_choice(sample: Sample, text: AnswerText, holder: str, message: dict[str, Any]) -> dict[str, Any]:
    """Return the choice that ends an answer; `holder` is `message`, or `delta` in a stream."""
    return {
        "index": 0,
        holder: message,
        "logprobs": None,
        "finish_reason": sample.finish,
        "stop_reason": text.stopped_by,
    }


def make_completion(
    body: ChatBody, served: ServedModel, prompt: Sequence[int], sample: Sample, text: AnswerText
) -> dict[str, Any]:
    """Return a whole answer, with the log-probability of each token where it is asked for."""
    choice = make_choice(sample, text, "message", {"role": "assistant", "content": text.text})
    if body.logprobs:
        choice["logprobs"] = {"content": _list_logprobs(served, sample)}
    if body.return_token_ids:
        choice["token_ids"] = sample.ids
    answer = AnswerHead(body.model).write("chat.completion", [choice], count_usage(prompt, sample))
    return {**answer, "prompt_token_ids": prompt} if body.return_token_ids else answer


def make_continuation(body: TokensBody, served: ServedModel, sample: Sample) -> dict[str, Any]:
    """Return the continuation of token ids."""
    choice: dict[str, Any] = {"index": 0, "text": served.format.template.decode(sample.ids), "finish_reason": sample.finish}
    if body.logprobs is not None:
        choice["logprobs"] = {"tokens": [f"token_id:{id_}" for id_ in sample.ids], "token_logprobs": sample.logprobs}
    if body.return_token_ids:
        choice |= {"token_ids": sample.ids, "prompt_token_ids": body.prompt}
    return AnswerHead(body.model).write("text_completion", [choice], count_usage(body.prompt, sample))


def write_event(content: Any) -> bytes:
    """Return an event of a stream."""
    return b"data: " + orjson.dumps(content) + b"\n\n"


def _list_logprobs(served: ServedModel, sample: Sample) -> list[dict[str, Any]]:
    texts = [str(served.format.tokenizer.decode([id_])) for id_ in sample.ids]
    return [
        {"token": text, "logprob": logprob, "bytes": list(text.encode()), "top_logprobs": []}
        for text, logprob in zip(texts, sample.logprobs, strict=True)
    ]
