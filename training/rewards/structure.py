"""Rewards of structure and tool use, which need no judge: DeepRubric Eq. 7 and 8, MindDR Eq. 6, 7 and 11.

ADR 0044 decides the cases that the papers leave open. An empty answer or thought is none. A citation counts when its id exists.
A repeated call is one search. In MindDR Eq. 6 a failure with no tool step before it is an isolated one, and a step that calls
no tool has no tool reward.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.domain.tool_key import call_key_of
from training.rewards.cited_claims import CitedClaim, cited_claims_of
from training.rewards.transcript import Transcript, TranscriptStep

ANSWER, CITES, TOOL, THINK = 0.5, 0.2, 0.1, 0.2
ENOUGH_SEARCHES = 6
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
        answer=bool(answer),
        cites=any(name in store for claim in cited for name in claim.ids),
        tool=bool(transcript.calls),
        think=any(step.thought for step in transcript.steps),
    )


def search_reward(transcript: Transcript, enough: int = ENOUGH_SEARCHES) -> float:
    """Return the reward of DeepRubric Eq. 8, from 0 to 1: the distinct valid tool calls over U."""
    return min(len({call_key_of(call.name, call.arguments) for call in transcript.calls}) / enough, 1.0)


def tool_rewards(steps: Sequence[TranscriptStep]) -> list[float]:
    """Return the reward of MindDR Eq. 6 for each step."""
    rewards: list[float] = []
    failed_before = False
    for step in steps:
        if not step.used_a_tool:
            rewards.append(0.0)
            continue
        failure = CONSECUTIVE_FAILURE if failed_before else ISOLATED_FAILURE
        rewards.append(SUCCESS if step.tool_succeeded else failure)
        failed_before = not step.tool_succeeded
    return rewards


def step_format_rewards(steps: Sequence[TranscriptStep]) -> list[float]:
    """Return the reward of MindDR Eq. 7 for each step. A step that neither calls a tool nor answers is ill-formed."""
    return [WELL_FORMED if step.well_formed and _acts(step) else ILL_FORMED for step in steps]


def _acts(step: TranscriptStep) -> bool:
    answers = [block for block in step.blocks if block.tag == "answer"]
    return bool(step.calls) != (len(answers) == 1 and bool(answers[0].text.strip()))


def violations_reward(tag: bool, markdown: bool, references: bool) -> int:
    """Return the reward of MindDR Eq. 11, from -3 to 0: minus one for each kind of violation in the report."""
    return -(int(tag) + int(markdown) + int(references))
