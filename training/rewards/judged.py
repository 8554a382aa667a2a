"""DeepRubric's reward of one transcript.

All judges of a transcript are asked at once. The record (`judging/batch.py`) limits how many requests are under way, so that
many transcripts share one limit.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.evidence_rubric import EvidenceCriterion
from app.domain.missing import Missing
from app.domain.rubric_score import Scored, rubric_score
from training.rewards.citations import CitedVerdict, Recall, UncitedVerdict, Verdict, citation_reward, resolving
from training.rewards.cited_claims import CitedClaim, claims_of
from training.rewards.composites import DeepRubricParts
from training.rewards.score import Score, present
from training.rewards.structure import format_of, search_reward
from training.rewards.transcript import Transcript
from workflows.agents.kit import Kit
from workflows.judging.citation_judge import CitedSupport, cited_relevance, cited_support, needs_citation
from workflows.judging.score_judges import MOST_MET, criterion_met

RECALL = {CitedSupport.FULL: Recall.FULL, CitedSupport.PARTIAL: Recall.PARTIAL, CitedSupport.NONE: Recall.NONE}


@dataclass(frozen=True, slots=True)
class Sample:
    """One rewarded sample: the question, its transcript, all retrieved texts by citation id, and the question's rubric."""

    question: str
    transcript: Transcript
    store: Mapping[str, str]
    rubric: Sequence[EvidenceCriterion]


async def deeprubric_parts(sample: Sample, kit: Kit) -> DeepRubricParts:
    """Judge the parts of DeepRubric Eq. 5. An empty answer needs no judge: its rubric and citation parts are 0."""
    answer = sample.transcript.answer
    if not answer:
        return DeepRubricParts(0.0, format_of(sample.transcript, sample.store).reward, 0.0, search_reward(sample.transcript))
    claims = claims_of(answer)
    rubric, verdicts = await asyncio.gather(
        rubric_reward(sample.question, answer, sample.rubric, kit),
        _verdicts(sample, answer, claims, kit),
    )
    return DeepRubricParts(
        rubric=rubric,
        format=format_of(sample.transcript, sample.store, claims).reward,
        citation=citation_reward(claims, verdicts, sample.store),
        search=search_reward(sample.transcript),
    )


async def rubric_reward(question: str, answer: str, rubric: Sequence[EvidenceCriterion], kit: Kit) -> Score:
    """Judge an answer by DeepRubric Eq. 4 (and 6), from 0 to 1: the criteria's scores over 4, averaged by weight.

    A negative weight, which an unrevised rubric may have, lowers the reward (ADR 0027). The reward is Missing where the verdict
    on a criterion is, and without criteria.
    """
    met = present(await asyncio.gather(*(criterion_met(kit, question, answer, criterion.shown) for criterion in rubric)))
    if isinstance(met, Missing):
        return met
    return rubric_score([Scored(criterion.weight, score / MOST_MET) for criterion, score in zip(rubric, met, strict=True)])


async def _verdicts(sample: Sample, answer: str, claims: Sequence[CitedClaim], kit: Kit) -> list[Verdict | None]:
    """Ask the judges about each claim; None for a claim that cites only ids that do not exist."""
    question, store = sample.question, sample.store
    texts = {claim: "\n\n".join(store[name] for name in known) for claim in claims if (known := resolving(claim, store))}
    bare = [claim for claim in claims if not claim.cited]
    supports, relevances, needs = await asyncio.gather(
        asyncio.gather(*(cited_support(kit, question, claim.text, text) for claim, text in texts.items())),
        asyncio.gather(*(cited_relevance(kit, question, claim.text, text) for claim, text in texts.items())),
        asyncio.gather(*(needs_citation(kit, question, answer, claim.text) for claim in bare)),
    )
    found: dict[CitedClaim, Verdict] = dict(zip(texts, map(_cited, supports, relevances), strict=True))
    found |= zip(bare, map(_uncited, needs), strict=True)
    return [found.get(claim) for claim in claims]


def _cited(support: CitedSupport | Missing, relevant: bool | Missing) -> Verdict:
    if isinstance(support, Missing):
        return support
    return relevant if isinstance(relevant, Missing) else CitedVerdict(RECALL[support], relevant)


def _uncited(needed: bool | Missing) -> Verdict:
    return needed if isinstance(needed, Missing) else UncitedVerdict(needed)
