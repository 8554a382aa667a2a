"""Sampling inside transformers' `generate`: each row has its own random numbers, and its log-probabilities are kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
from transformers import LogitsProcessor, StoppingCriteria

from training.rollouts.engine import GREEDY, Sample, SamplingSettings

Follow: TypeAlias = Callable[[int], bool]
"""What is given each sampled id, in the generating thread, and says whether the row goes on."""


@dataclass
class _Row:
    most: int
    numbers: torch.Generator
    follow: Follow
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    finish: str = ""


class SeededSampling(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Chooses each row's next id by the Gumbel-max rule and leaves it alone possible, for a greedy `generate` to take."""

    def __init__(
        self, settings: SamplingSettings, seeds: Sequence[int | None], most: Sequence[int], follows: Sequence[Follow]
    ) -> None:
        self._settings = settings
        rows = zip(seeds, most, follows, strict=True)
        self._rows = [_Row(limit, _seed_generator(seed), follow) for seed, limit, follow in rows]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return scores (rows, vocabulary) in which only the chosen ids are finite."""
        logprobs = torch.log_softmax(scores.float() / (self._settings.temperature or 1.0), dim=-1)
        chosen = self._choose(logprobs)
        for row, id_, logprob in zip(
            self._rows, chosen.tolist(), logprobs.gather(1, chosen[:, None])[:, 0].tolist(), strict=True
        ):
            self._note(row, id_, logprob)
        return torch.full_like(scores, -torch.inf).scatter(1, chosen[:, None], 0.0)

    def list_samples(self) -> list[Sample]:
        """Return what was sampled."""
        return [Sample(tuple(row.ids), tuple(row.logprobs), row.finish) for row in self._rows]

    def list_ended(self) -> list[bool]:
        """Say for each row whether it has ended."""
        return [bool(row.finish) for row in self._rows]

    def _choose(self, logprobs: torch.Tensor) -> torch.Tensor:
        if self._settings.temperature == GREEDY:
            return logprobs.argmax(dim=-1)
        uniform = torch.stack([torch.rand(logprobs.shape[1], generator=row.numbers) for row in self._rows]).to(logprobs.device)
        tiny = torch.finfo(uniform.dtype).tiny
        noise = -torch.log((-torch.log(uniform.clamp_min(tiny))).clamp_min(tiny))
        return (_cut_tail(logprobs, self._settings.top_p) + noise).argmax(dim=-1)

    def _note(self, row: _Row, id_: int, logprob: float) -> None:
        if row.finish:
            return
        row.ids.append(id_)
        row.logprobs.append(logprob)
        goes_on = row.follow(id_)
        if id_ in self._settings.stop_ids or not goes_on:
            row.finish = "stop"
        elif len(row.ids) == row.most:
            row.finish = "length"


class RowEnds(StoppingCriteria):  # type: ignore[misc, unused-ignore]
    """Ends each row of a `generate` when its sampling has ended. `between_tokens` is called after each token."""

    def __init__(self, sampling: SeededSampling, between_tokens: Callable[[], None]) -> None:
        self._sampling = sampling
        self._between_tokens = between_tokens

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: object) -> torch.Tensor:
        """Say for each row whether it is over."""
        self._between_tokens()
        return torch.tensor(self._sampling.list_ended(), device=input_ids.device)


def _seed_generator(seed: int | None) -> torch.Generator:
    numbers = torch.Generator()
    if seed is None:
        numbers.seed()
    else:
        numbers.manual_seed(seed)
    return numbers


def _cut_tail(logprobs: torch.Tensor, top_p: float) -> torch.Tensor:
    """Make impossible what is outside the fewest ids that together have the probability `top_p`."""
    if top_p == 1.0:
        return logprobs
    ordered, places = logprobs.sort(dim=-1, descending=True)
    before = ordered.exp().cumsum(dim=-1) - ordered.exp()
    return logprobs.masked_fill((before >= top_p).gather(1, places.argsort(dim=-1)), -torch.inf)
