"""DeepRubric's reward of one transcript.

All judges of a transcript are asked at once. The record (`judging/batch.py`) limits how many requests are under way, so that
many transcripts share one limit.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.domain.evidence_rubric import EvidenceCriterion
from app.domain.missing import Missing
from app.domain.rubric_score import ScoredItem, rubric_score
from training.rewards.citations import CitedVerdict, Recall, UncitedVerdict, Verdict, citation_reward, judged_groups_of
from training.rewards.cited_claims import CitedClaim, cited_claims_of
from training.rewards.composites import DeepRubricParts
from training.rewards.score import Score, require_present
from training.rewards.structure import format_of, search_reward
from training.rewards.transcript import Transcript
from workflows.agents.kit import Kit
from workflows.judging.citation_judge import CitedSupport, judge_citation_need, judge_cited_relevance, judge_cited_support
from workflows.judging.score_judges import MOST_MET, judge_criterion

RECALL = {CitedSupport.FULL: Recall.FULL, CitedSupport.PARTIAL: Recall.PARTIAL, CitedSupport.NONE: Recall.NONE}


@dataclass(frozen=True, slots=True)
class RewardSample:
    """One rewarded sample: the question, its transcript, all retrieved texts by citation id, and the question's rubric.

    `read_claims` reads the notation in which the answer cites, as published or not.
    """

    question: str
    transcript: Transcript
    store: Mapping[str, str]
    rubric: Sequence[EvidenceCriterion]
    read_claims: Callable[[str, bool], list[CitedClaim]] = cited_claims_of


async def judge_deeprubric_parts(sample: RewardSample, kit: Kit, published: bool = False) -> DeepRubricParts:
    """Judge the parts of DeepRubric Eq. 5. An empty answer needs no judge: its rubric and citation parts are 0."""
    answer = sample.transcript.answer
    search = search_reward(sample.transcript, published=published)
    if not answer:
        return DeepRubricParts(0.0, format_of(sample.transcript, sample.store).reward, 0.0, search)
    claims = sample.read_claims(answer, published)
    rubric, verdicts = await asyncio.gather(
        judge_rubric_reward(sample.question, answer, sample.rubric, kit),
        _judge_claims(sample, claims, kit, published),
    )
    return DeepRubricParts(
        rubric=rubric,
        format=format_of(sample.transcript, sample.store, claims).reward,
        citation=citation_reward(claims, verdicts, sample.store, published),
        search=search,
    )


async def judge_rubric_reward(question: str, answer: str, rubric: Sequence[EvidenceCriterion], kit: Kit) -> Score:
    """Judge an answer by DeepRubric Eq. 4 (and 6), from 0 to 1: the criteria's scores over 4, averaged by weight.

    A negative weight, which an unrevised rubric may have, lowers the reward (ADR 0025). The reward is Missing where the verdict
    on a criterion is, and without criteria.
    """
    met = require_present(
        await asyncio.gather(*(judge_criterion(kit, question, answer, criterion.shown) for criterion in rubric))
    )
    if isinstance(met, Missing):
        return met
    return rubric_score([ScoredItem(criterion.weight, score / MOST_MET) for criterion, score in zip(rubric, met, strict=True)])


async def _judge_claims(sample: RewardSample, claims: Sequence[CitedClaim], kit: Kit, published: bool) -> list[Verdict | None]:
    """Ask the judges about each claim; None for a claim that cites only ids that do not exist."""
    return await asyncio.gather(*(_judge_claim(sample, claim, kit, published) for claim in claims))


async def _judge_claim(sample: RewardSample, claim: CitedClaim, kit: Kit, published: bool) -> Verdict | None:
    question, text = sample.question, claim.text
    if not claim.cited:
        needed = await judge_citation_need(kit, question, sample.transcript.answer, text)
        return needed if isinstance(needed, Missing) else UncitedVerdict(needed)
    groups = judged_groups_of(claim, sample.store, published)
    if not groups:
        return None
    shown = ["\n\n".join(sample.store[name] for name in group) for group in groups]
    support, found = await asyncio.gather(
        judge_cited_support(kit, question, text, "\n\n".join(shown)),
        asyncio.gather(*(judge_cited_relevance(kit, question, text, texts) for texts in shown)),
    )
    relevant = require_present(found)
    if isinstance(support, Missing):
        return support
    if isinstance(relevant, Missing):
        return relevant
    return CitedVerdict(RECALL[support], sum(len(group) for group, yes in zip(groups, relevant, strict=True) if yes))
