"""The reward of an agent's report: DeepRubric's four parts (DRub Eq. 4 to 14), or its rubric alone (QSR Eq. 2)."""

from collections.abc import Collection
from dataclasses import replace

from app.domain.evidence_rubric import EvidenceRubric
from app.domain.query import SystemName
from app.domain.rubric import Rubric
from training.recipes.agent_rl.config import RewardKind, RewardSection
from training.rewards.bracketed_claims import bracketed_claims_of
from training.rewards.cited_claims import cited_claims_of
from training.rewards.composites import DeepRubricParts, deeprubric_reward
from training.rewards.deeprubric import RewardSample, judge_deeprubric_parts
from training.rewards.passage_store import store_of
from training.rewards.sameness import has_words
from training.rewards.score import Score
from training.rewards.transcript import transcript_of
from training.rollouts.nouns import Reward, Rollout
from workflows.agents.kit import Kit
from workflows.judging.rubric_judge import score_answer

AGENT = "search/s1"
"""The agent of the systems that work in one conversation."""


async def reward_report(
    question: str, rollout: Rollout, rubric: EvidenceRubric | Rubric, section: RewardSection, reader: "ReportReader"
) -> Reward:
    """Return the reward with its parts. It is missing where a needed verdict is."""
    if section.kind is RewardKind.RUBRIC:
        score = await _score_text(question, rollout.output, rubric, section, reader.judge)
        return Reward(score, {"rubric": score})
    parts = await reader.judge_parts(question, rollout, rubric, section)
    named = {"rubric": parts.rubric, "format": parts.format, "citation": parts.citation, "search": parts.search}
    return Reward(deeprubric_reward(parts, section.weights), named)


class ReportReader:
    """Reads what a system wrote and was shown, and has it judged."""

    def __init__(self, system: SystemName, tools: Collection[str], judge: Kit) -> None:
        self._tools, self.judge = tools, judge
        self._read_claims = cited_claims_of if system is SystemName.DEEPRUBRIC else bracketed_claims_of

    async def judge_parts(
        self, question: str, rollout: Rollout, rubric: EvidenceRubric | Rubric, section: RewardSection
    ) -> DeepRubricParts:
        """Judge the parts of DRub Eq. 5. A rubric that is not DeepRubric's own is scored by QSR Eq. 2 in its place."""
        own = rubric if isinstance(rubric, EvidenceRubric) else None
        transcript = transcript_of(rollout.trajectory, AGENT, self._tools)
        sample = RewardSample(
            question=question,
            transcript=transcript,
            store={name: passage.text for name, passage in store_of(rollout.trajectory, AGENT).items()},
            rubric=own.criteria if own else (),
            read_claims=self._read_claims,
        )
        parts = await judge_deeprubric_parts(sample, self.judge, section.published)
        if own:
            return parts
        return replace(parts, rubric=await _score_text(question, transcript.answer, rubric, section, self.judge))


async def _score_text(question: str, text: str, rubric: EvidenceRubric | Rubric, section: RewardSection, judge: Kit) -> Score:
    """Score a text by a rubric (QSR Eq. 2); 0 for one without words."""
    if not has_words(text):
        return 0.0
    return (await score_answer(judge, question, text, rubric)).total(section.aggregation)
