"""Rewards of structure and tool use, which need no judge: DeepRubric Eq. 7 and 8, MindDR Eq. 6, 7 and 11.

ADR 0042 decides the cases that the papers leave open. An answer or thought without words is none. A citation counts when its id
exists. A call repeats another one of the same tool when it has the same words; it is no further search, and a step that only
repeats fails. `published` counts repetitions. In MindDR Eq. 6 a failure with no tool step before it is an isolated one, and a
step that calls no tool has no tool reward.
"""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from app.domain.chat import ToolCall
from training.rewards.cited_claims import CitedClaim, cited_claims_of
from training.rewards.sameness import has_words, query_key_of
from training.rewards.transcript import Transcript, TranscriptStep

ANSWER, CITES, TOOL, THINK = 0.5, 0.2, 0.1, 0.2
ENOUGH_SEARCHES = 6
INPUTS = ("query", "url")
SUCCESS, ISOLATED_FAILURE, CONSECUTIVE_FAILURE = 0.1, -0.1, -0.2
WELL_FORMED, ILL_FORMED = 0.1, -0.2


@dataclass(frozen=True, slots=True)
class FormatIndicators:
    """The four indicators of DeepRubric Eq. 7."""

    answer: bool
    cites: bool
    tool: bool
    think: bool

    @property
    def reward(self) -> float:
        """The reward of Eq. 7, from 0 to 1."""
        return ANSWER * self.answer + CITES * self.cites + TOOL * self.tool + THINK * self.think


def format_of(transcript: Transcript, store: Collection[str], claims: Sequence[CitedClaim] | None = None) -> FormatIndicators:
    """Return the indicators of a transcript. `store` holds all retrieved ids, `claims` the answer's claims if they are known."""
    answer = transcript.answer
    cited = cited_claims_of(answer) if claims is None else claims
    return FormatIndicators(
        answer=has_words(answer),
        cites=any(name in store for claim in cited for name in claim.ids),
        tool=bool(transcript.calls),
        think=any(has_words(step.thought) for step in transcript.steps),
    )


def search_reward(transcript: Transcript, enough: int = ENOUGH_SEARCHES, published: bool = False) -> float:
    """Return the reward of DeepRubric Eq. 8, from 0 to 1: the distinct tool calls that worked, over U.

    As published, every valid call counts.
    """
    if published:
        return min(len(transcript.calls) / enough, 1.0)
    asked: set[Hashable] = set()
    found = 0
    for step in transcript.steps:
        new = {_key_of(call) for call in step.calls} - asked
        found += min(len(new), step.worked_calls)
        asked |= new
    return min(found / enough, 1.0)


def tool_rewards(steps: Sequence[TranscriptStep], published: bool = False) -> list[float]:
    """Return the reward of MindDR Eq. 6 for each step. As published, a step that only repeats calls succeeds again."""
    rewards: list[float] = []
    asked: set[Hashable] = set()
    failed_before = False
    for step in steps:
        if not step.used_a_tool:
            rewards.append(0.0)
            continue
        keys = {_key_of(call) for call in step.calls}
        succeeded = step.tool_succeeded and (published or not keys <= asked)
        rewards.append(SUCCESS if succeeded else CONSECUTIVE_FAILURE if failed_before else ISOLATED_FAILURE)
        failed_before = not succeeded
        asked |= keys if succeeded else set()
    return rewards


def _key_of(call: ToolCall) -> Hashable:
    """Return the key that equal calls share: what is searched or read, and which part of a page. Other arguments do nothing."""
    texts = [value for value in call.arguments.values() if isinstance(value, str)]
    named = [value for name in INPUTS if isinstance(value := call.arguments.get(name), str)]
    part = call.arguments.get("part") if call.name == "browse" else None
    return call.name, frozenset(map(query_key_of, named or texts)), str(part)


def step_format_rewards(steps: Sequence[TranscriptStep]) -> list[float]:
    """Return the reward of MindDR Eq. 7 for each step. A step that neither calls a tool nor answers is ill-formed."""
    return [WELL_FORMED if step.well_formed and _acts(step) else ILL_FORMED for step in steps]


def _acts(step: TranscriptStep) -> bool:
    answers = [block for block in step.blocks if block.tag == "answer"]
    return bool(step.calls) != (len(answers) == 1 and bool(answers[0].text.strip()))


def violations_reward(tag: bool, markdown: bool, references: bool) -> int:
    """Return the reward of MindDR Eq. 11, from -3 to 0: minus one for each kind of violation in the report."""
    return -(int(tag) + int(markdown) + int(references))
