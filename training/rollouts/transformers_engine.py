"""An engine in this process: transformers' `generate`, over batches of the requests that wait at the same time."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from transformers import GenerationConfig, LogitsProcessorList, PreTrainedModel, StoppingCriteriaList

from app.domain.errors import ContextTooLong, ModelUnavailable, RubricaError
from training.rollouts.engine import Sample, SamplingSettings
from training.rollouts.seeded_sampling import Follow, RowEnds, SeededSampling

Borrow: TypeAlias = Callable[[], AbstractContextManager[Any]]
GATHER_S = 0.002


@dataclass(eq=False)
class _Call:
    prompt: tuple[int, ...]
    most: int
    settings: SamplingSettings
    seed: int | None
    follow: Follow | None
    answer: asyncio.Future[Sample] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def goes_on(self, id_: int) -> bool:
        """Say after each id whether anybody waits for more."""
        return not self.answer.done() and (self.follow is None or self.follow(id_))


class TransformersEngine:
    """A policy whose weights this process holds. Each row of a batch is drawn by its own seed, whatever stands beside it.

    `borrow` lends the model to sample from for the time of a batch: give it the unwrapped one, since `generate` on a wrapped
    model with gradient checkpointing silently works without its cache of keys and values. The model is put into evaluation
    mode meanwhile. Whoever changes the weights does so between batches and sets `policy_version`. At most `rows` prompts make
    a batch. `between_tokens` is called after each token of a batch, in the thread that generates.

    Raises (from `sample`):
        ContextTooLong: the prompt leaves no room in the model's positions.
        ModelUnavailable: generating failed, as for want of memory. That is no failure of the policy.
    """

    def __init__(
        self,
        name: str,
        borrow: Borrow,
        *,
        pad_id: int,
        rows: int = 16,
        policy_version: int = 0,
        between_tokens: Callable[[], None] = lambda: None,
    ) -> None:
        self._name = name
        self._borrow = borrow
        self._pad_id = pad_id
        self._rows = rows
        self._between_tokens = between_tokens
        self._waiting: list[_Call] = []
        self._worker: asyncio.Task[None] | None = None
        self.policy_version = policy_version

    @property
    def name(self) -> str:
        """The policy's name."""
        return self._name

    async def sample(
        self,
        prompt_ids: Sequence[int],
        most: int,
        settings: SamplingSettings,
        seed: int | None,
        follow: Follow | None = None,
    ) -> Sample:
        """Sample up to `most` ids after the prompt, together with the other requests that wait.

        `follow` is called with each id, in another thread; the answer ends as `stop` where it says no. So does an answer that is
        given up, and its batch with the last one.
        """
        call = _Call(tuple(prompt_ids), most, settings, seed, follow)
        self._waiting.append(call)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await call.answer

    async def _work(self) -> None:
        while self._waiting:
            await asyncio.sleep(GATHER_S)
            batch = self._take_batch()
            try:
                samples = await asyncio.to_thread(self._generate, batch)
            except Exception as error:  # noqa: BLE001  (each caller gets it)
                samples = [_tell_failure(error) for _ in batch]
            for call, sample in zip(batch, samples, strict=True):
                if call.answer.done():
                    continue
                if isinstance(sample, Exception):
                    call.answer.set_exception(sample)
                else:
                    call.answer.set_result(sample)

    def _take_batch(self) -> list[_Call]:
        """Take the calls that are sampled like the one that has waited longest; those that were given up are left out."""
        self._waiting = [call for call in self._waiting if not call.answer.done()]
        alike = [call for call in self._waiting if _is_alike(call.settings, self._waiting[0].settings)][: self._rows]
        self._waiting = [call for call in self._waiting if call not in alike]
        return alike

    def _generate(self, batch: list[_Call]) -> list[Sample | Exception]:
        """Sample a batch. A prompt without room is an error of its own; the others do not fail with it."""
        if not batch:
            return []
        with self._borrow() as model, torch.no_grad():
            positions = model.config.get_text_config().max_position_embeddings
            fitting = [call for call in batch if len(call.prompt) < positions]
            samples = iter(_generate_rows(model, fitting, positions, self._pad_id, self._between_tokens))
            full = ContextTooLong(f"the prompt is longer than the model's context of {positions} tokens")
            return [next(samples) if call in fitting else full for call in batch]


def lend(model: PreTrainedModel) -> Borrow:
    """Return the `borrow` of a model that no trainer has wrapped."""
    return lambda: nullcontext(model)


def _tell_failure(error: Exception) -> Exception:
    if isinstance(error, RubricaError):
        return error
    told = ModelUnavailable(f"the policy could not be sampled: {type(error).__name__}: {error}")
    told.__cause__ = error
    return told


def _is_alike(one: SamplingSettings, other: SamplingSettings) -> bool:
    return (one.temperature, one.top_p, one.stop_ids) == (other.temperature, other.top_p, other.stop_ids)


def _generate_rows(
    model: Any, calls: list[_Call], positions: int, pad_id: int, between_tokens: Callable[[], None]
) -> list[Sample]:
    if not calls:
        return []
    most = [min(call.most, positions - len(call.prompt)) for call in calls]
    settings, longest = calls[0].settings, max(len(call.prompt) for call in calls)
    sampling = SeededSampling(settings, [call.seed for call in calls], most, [call.goes_on for call in calls])
    ids = torch.tensor([[pad_id] * (longest - len(c.prompt)) + list(c.prompt) for c in calls], device=model.device)
    mask = torch.tensor([[0] * (longest - len(c.prompt)) + [1] * len(c.prompt) for c in calls], device=model.device)
    # What the model's own settings would add (Qwen's repetition penalty) is switched off: the trainer does not know of it.
    asked = GenerationConfig(
        do_sample=False,
        num_beams=1,
        repetition_penalty=1.0,
        no_repeat_ngram_size=0,
        max_new_tokens=max(most),
        eos_token_id=list(settings.stop_ids),
        pad_token_id=pad_id,
    )
    trains = model.training
    model.eval()
    try:
        model.generate(
            input_ids=ids,
            attention_mask=mask,
            generation_config=asked,
            logits_processor=LogitsProcessorList([sampling]),
            stopping_criteria=StoppingCriteriaList([RowEnds(sampling, between_tokens)]),
        )
    finally:
        model.train(trains)
    return sampling.list_samples()
