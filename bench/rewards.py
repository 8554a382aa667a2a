"""`python -m bench.rewards`: measure what rewards cost besides their judge, and whether the judge is kept busy.

A stub in this process, which answers after 100 to 300 ms, judges 64 transcripts of 10,000 tokens, 7 criteria and 30 claims each.
`cpu_ms` is this process's CPU time a transcript; `saturation` the share of the time, from the first call to the last that was
begun, during which as many calls were under way as the limit allows.
"""

import asyncio
import random
import time
from datetime import date

from app.domain.chat import ChatRequest, Completion
from app.domain.evidence_rubric import CriterionType, EvidenceCriterion
from app.domain.missing import Missing
from bench.result import print_result
from training.rewards.composites import deeprubric_reward
from training.rewards.deeprubric import RewardSample, judge_deeprubric_parts
from training.rewards.transcript import Transcript, read_step
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.prompts.library import PromptLibrary

TRANSCRIPTS, CRITERIA, CLAIMS = 64, 7, 30
CHARS = 40_000
AT_ONCE = 64
LEAST_LATENCY_S, MOST_LATENCY_S = 0.1, 0.3
ANSWERS = {
    "cited_support": '{"analysis": "it says so", "rating": "partial"}',
    "cited_relevance": '{"analysis": "it does", "result": "yes"}',
    "needs_citation": '{"analysis": "a fact", "result": "no"}',
    "criterion_met": '{"analysis": "mostly", "score": 3}',
}
WORDS = ("tariff", "revenue", "industry", "duty", "wool", "import", "session", "message", "surplus", "debt", "labor", "market")


class StubJudge:
    """A judge that answers after a while, and measures how long `AT_ONCE` calls were under way before the last one began."""

    name = "stub"

    def __init__(self) -> None:
        self.calls = self.under_way = 0
        self.first = self.last = self.full_s = self._full_s = self._changed = 0.0
        self._latency = random.Random(0)

    async def complete(self, request: ChatRequest) -> Completion:
        """Return one answer."""
        self._count(1)
        self.calls += 1
        self.first, self.last, self.full_s = self.first or self._changed, self._changed, self._full_s
        await asyncio.sleep(self._latency.uniform(LEAST_LATENCY_S, MOST_LATENCY_S))
        self._count(-1)
        assert request.response_schema is not None
        return Completion(text=ANSWERS[request.response_schema.name], model=self.name)

    def _count(self, change: int) -> None:
        now = time.perf_counter()
        if self.under_way == AT_ONCE:
            self._full_s += now - self._changed
        self._changed = now
        self.under_way += change


def make_sentence(generator: random.Random, words: int) -> str:
    """Make a sentence of so many words."""
    return " ".join(generator.choices(WORDS, k=words)).capitalize() + "."


def make_sample(number: int) -> RewardSample:
    """Make a transcript of ten searches and a report, four fifths of whose claims are cited."""
    generator = random.Random(number)
    store = {f"d{n}": make_sentence(generator, 120) for n in range(20)}
    steps = [
        read_step(
            f"<think>{make_sentence(generator, 60)}</think>"
            f'<tool_call>{{"name": "search", "arguments": {{"query": "q{n}"}}}}</tool_call>',
            [make_sentence(generator, 350)],
        )
        for n in range(10)
    ]
    claims = [
        f'<cite id="d{n % 20}">{make_sentence(generator, 40)}</cite>' if n % 5 else make_sentence(generator, 40)
        for n in range(CLAIMS)
    ]
    steps.append(read_step(f"<think>done</think><answer>{' '.join(claims)}</answer>"))
    assert (
        0.7 * CHARS
        < sum(len(text) for s in steps for text in (s.thought, *s.observations, *(b.text for b in s.blocks)))
        < 1.3 * CHARS
    )
    rubric = [
        EvidenceCriterion(id=f"R{n}", type=CriterionType.FACTUAL, description=make_sentence(generator, 25), weight=1.0)
        for n in range(1, CRITERIA + 1)
    ]
    return RewardSample(f"Question {number}: {make_sentence(generator, 15)}", Transcript(tuple(steps)), store, rubric)


async def run() -> None:
    judge = StubJudge()
    record = BatchRecord(AnswerStore(), AT_ONCE)
    kit = Kit(judge, {}, record, PromptLibrary.load(), SchemaCodec(), date(2026, 1, 1), time.monotonic)
    samples = [make_sample(number) for number in range(TRANSCRIPTS)]
    cpu = time.process_time()
    rewards = [deeprubric_reward(parts) for parts in await asyncio.gather(*(judge_deeprubric_parts(s, kit) for s in samples))]
    cpu_ms = (time.process_time() - cpu) * 1_000 / TRANSCRIPTS
    if lost := [reward for reward in rewards if isinstance(reward, Missing)]:
        raise RuntimeError(f"{len(lost)} rewards are missing: {lost[0].reason}")
    mean = sum(reward for reward in rewards if not isinstance(reward, Missing)) / len(rewards)
    print(f"{judge.calls} calls in {judge.last - judge.first:.1f} s, {AT_ONCE} at once; mean reward {mean:.3f}")
    print_result("rewards", {"cpu_ms": cpu_ms, "saturation": judge.full_s / (judge.last - judge.first)})


if __name__ == "__main__":
    asyncio.run(run())
