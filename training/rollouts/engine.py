"""The engine of a sampler: it continues token ids, and says how probable each sampled id was."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

GREEDY = 0.0


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """The way in which a policy is sampled. It belongs to the sampler: a request's own temperature is not followed.

    `stop_ids` end an answer (the end-of-turn token, at least). `most_tokens` caps one answer (DRub 4.1: 2,048 an action). With
    a `seed`, the same requests get the same answers in whatever order they come; None: each answer is drawn at random.
    """

    stop_ids: tuple[int, ...]
    temperature: float = 1.0
    top_p: float = 1.0
    most_tokens: int = 2_048
    seed: int | None = None

    def __post_init__(self) -> None:
        if not self.stop_ids or self.most_tokens < 1 or self.temperature < GREEDY or not 0 < self.top_p <= 1:
            raise ValueError("sampling needs a stop id, a token at least, a temperature of 0 or more and a top-p in (0, 1]")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sampled answer. `ids` ends with the sampled stop id, if one was sampled; else `finish` is `length`.

    Where something follows the answer and ends it, `finish` is `stop` too.

    `logprobs` are natural log-probabilities of `ids` at the temperature, before top-p cuts: what a trainer computes again.
    """

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish: str


class Engine(Protocol):
    """A model that continues token ids. It never retries and keeps nothing of a request.

    Raises:
        ModelUnavailable: outage, time-out or rate limit; worth waiting for.
        ContextTooLong: the prompt is longer than the model's context.
        ModelRefused: the request will never be answered.
    """

    @property
    def name(self) -> str:
        """The policy's name."""
        ...

    @property
    def policy_version(self) -> int:
        """The number of the weights with which the next answer begins."""
        ...

    async def sample(self, prompt_ids: Sequence[int], most: int, settings: SamplingSettings, seed: int | None) -> Sample:
        """Sample up to `most` ids after the prompt. `seed` is this call's own; those of the settings do not count here."""
        ...
