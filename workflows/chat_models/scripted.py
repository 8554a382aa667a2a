"""A model with prepared answers: a list in order, or a function of the request."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, Completion, SampledTokens
from app.domain.errors import ModelRefused
from workflows.chat_models.estimating import estimate_usage

ScriptedAnswer: TypeAlias = str | Completion | Exception
AnswerScript: TypeAlias = Iterable[ScriptedAnswer] | Callable[[ChatRequest], ScriptedAnswer]
Sampler: TypeAlias = Callable[[ChatRequest, str], SampledTokens]


class ScriptedModel:
    """Answers from its script and keeps the requests. An exception in the script is raised.

    `sample` gives each answer token ids, as a training sampler would.
    """

    name = "scripted"

    def __init__(self, script: AnswerScript, sample: Sampler | None = None) -> None:
        self._answer = script if callable(script) else _answer_in_order(script)
        self._sample = sample
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the next answer.

        Raises:
            ModelRefused: a list of answers is used up.
        """
        self.requests.append(request)
        said = self._answer(request)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Completion):
            return said
        usage = Usage(model_calls=1) + estimate_usage(request, said)
        sampled = self._sample(request, said) if self._sample else None
        return Completion(text=said, model=self.name, usage=usage, estimated=True, sampled=sampled)


def _answer_in_order(script: Iterable[ScriptedAnswer]) -> Callable[[ChatRequest], ScriptedAnswer]:
    left = iter(script)
    return lambda _: next(left, ModelRefused("the script has no more answers"))
