"""The row of self-samples: a prompt with its outputs, the best one, and the pair of the best and the worst."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from statistics import fmean

from app.domain.chat import Message
from app.domain.rubric import Rubric
from training.synthesis.self_samples.prompts import SamplePrompt
from training.synthesis.self_samples.scoring import DECIMALS, SampleScore
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from workflows.checks.answer_faults import count_words

STAGE, NO_TOPIC = "scores", "other"
BEST, GAP = "score of the best", "best minus worst"


class Side(StrEnum):
    """The high-quality set, the low-quality set, or neither."""

    HIGH = "high"
    LOW = "low"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True)
class ScoreLimits:
    """The scores from which an output is good, down to which it is bad, and the least difference of a pair."""

    high: float
    low: float
    margin: float

    def find_side(self, score: float) -> Side:
        """Return the side of a score."""
        if score >= self.high:
            return Side.HIGH
        return Side.LOW if score <= self.low else Side.BETWEEN


class ScoredSample(SampleScore):
    """An output with its score. The text is as the policy gave it."""

    output: str
    side: Side


class SelfSampleRow(ScoredSample):
    """The best output of a prompt, with all `samples`, the best first.

    `chosen` and `rejected` are the best and the worst output where the best is high, the worst is low and they differ by the
    margin; else both are empty. `policy` is the name of the model at its server. `rubric` is the one by which they were judged,
    and `asked_on` the day that the prompt names.
    """

    prompt: tuple[Message, ...]
    preset: str
    policy: str
    temperature: float
    samples: tuple[ScoredSample, ...]
    chosen: str = ""
    rejected: str = ""
    gap: float = 0.0
    rubric: Rubric | None = None
    asked_on: date | None = None


def keep_samples(
    prompt: SamplePrompt,
    scored: Sequence[tuple[str, SampleScore]],
    limits: ScoreLimits,
    preset: str,
    policy: str,
    temperature: float,
    rubric: Rubric | None = None,
) -> KeptRow | RefusedCandidate:
    """Return the row, where the best output is good; else the refusal, with the scores."""
    samples = sorted((_place(text, score, limits) for text, score in scored), key=_order_of)
    best, worst = samples[0], samples[-1]
    if best.side is not Side.HIGH:
        data = {"query": prompt.query, "scores": [each.model_dump(mode="json", exclude={"output"}) for each in samples]}
        return RefusedCandidate(stage=STAGE, reason=f"no output reaches {limits.high:g}", data=data)
    gap = round(best.score - worst.score, DECIMALS)
    paired = worst.side is Side.LOW and gap >= limits.margin
    row = SelfSampleRow(
        output=best.output,
        side=best.side,
        score=best.score,
        judges=best.judges,
        rules=best.rules,
        faults=best.faults,
        prompt=prompt.messages,
        preset=preset,
        policy=policy,
        temperature=temperature,
        samples=tuple(samples),
        chosen=best.output if paired else "",
        rejected=worst.output if paired else "",
        gap=gap,
        rubric=rubric,
        asked_on=prompt.asked_on,
    )
    return KeptRow(
        query=prompt.query,
        topic=prompt.topic or NO_TOPIC,
        language=prompt.language,
        documents=prompt.documents,
        data=row.model_dump(mode="json"),
        counts={BEST: best.score, GAP: gap, "words of an output": fmean(count_words(each.output) for each in samples)},
    )


def _order_of(sample: ScoredSample) -> tuple[float, str]:
    """Return the place of an output: the best first, and those with the same score by a hash.

    By their words, an output would stand before those that only go on after it, and the shorter ones would be preferred.
    """
    return -sample.score, hashlib.sha256(sample.output.encode()).hexdigest()


def _place(text: str, score: SampleScore, limits: ScoreLimits) -> ScoredSample:
    return ScoredSample(
        output=text,
        side=limits.find_side(score.score),
        score=score.score,
        judges=score.judges,
        rules=score.rules,
        faults=score.faults,
    )
