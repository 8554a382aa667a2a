"""A second look at claims by an encoder, or by the cross-encoder that the installation names.

The cross-encoder judges every claim that is not in its source's own words: only so does a better judge see what the offline
grader took for supported.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from app.domain.claims import Support
from app.domain.errors import ToolError
from app.domain.query import Language
from app.settings import ClaimGrader
from workflows.agents.kit import Kit
from workflows.checks.grading import load_grader
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.offline_judge import judge_with_vectors
from workflows.judging.remarks import word_remark
from workflows.judging.verbatim import VERBATIM

MOST_ENCODED = 4
"""The most claims for which vectors are asked: only claims of which a reader would be warned."""
ENTAILED_AT_ONCE = 200
SURE_ENTAILED = 0.5


class TextEncoder(Protocol):
    """What judges may ask of the index owner, which has the encoder and, if configured, a cross-encoder.

    Raises:
        ToolError: it cannot be reached, or has no such weights.
    """

    async def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a unit vector for each text."""
        ...

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        """Return, for each premise and hypothesis, the probabilities of entailment and of contradiction."""
        ...


@dataclass(frozen=True, slots=True)
class Judges:
    """The judges: `reader` has an encoder (and perhaps a cross-encoder), or is None; `second` names the second judge."""

    reader: TextEncoder | None = None
    second: ClaimGrader = ClaimGrader.OFFLINE


async def look_again(drafts: list[ClaimDraft], kit: Kit, judges: Judges) -> list[ClaimDraft]:
    """Return the verdicts on claims that the offline grader has judged after the second look, which is not a model's."""
    try:
        if judges.reader and judges.second is ClaimGrader.NLI:
            return await _look_by_entailment(drafts, judges.reader, kit.language)
        return await _look_with_vectors(drafts, judges.reader, kit.language) if judges.reader else drafts
    except ToolError:
        return drafts  # the verdicts from words alone stand


async def _look_with_vectors(drafts: list[ClaimDraft], reader: TextEncoder, language: Language) -> list[ClaimDraft]:
    doubtful = {place: draft for place, draft in enumerate(drafts) if draft.fails}
    doubtful = dict(islice(doubtful.items(), MOST_ENCODED))
    texts = {
        text
        for draft in doubtful.values()
        for text in load_grader().list_texts_to_encode(draft.sentence.statement, draft.evidence)
    }
    if not texts:
        return drafts
    ordered = sorted(texts)
    vectors = dict(zip(ordered, await reader.encode(ordered), strict=True))
    return [judge_with_vectors(draft, vectors, language) if place in doubtful else draft for place, draft in enumerate(drafts)]


async def _look_by_entailment(drafts: list[ClaimDraft], reader: TextEncoder, language: Language) -> list[ClaimDraft]:
    asked = list(_list_for_judge(drafts))
    said: list[tuple[float, float]] = []
    for start in range(0, len(asked), ENTAILED_AT_ONCE):
        part = asked[start : start + ENTAILED_AT_ONCE]
        said += await reader.entail([(" ".join(draft.evidence.sentences), draft.sentence.statement) for draft in part])
    verdicts = {id(draft): _apply_entailment(draft, *chances, language) for draft, chances in zip(asked, said, strict=True)}
    return [verdicts.get(id(draft), draft) for draft in drafts]


def _list_for_judge(drafts: Sequence[ClaimDraft]) -> Iterator[ClaimDraft]:
    """Yield the claims with evidence that are not in its own words."""
    return (draft for draft in drafts if draft.quotes and draft.judge != VERBATIM)


def _apply_entailment(draft: ClaimDraft, entailed: float, contradicted: float, language: Language) -> ClaimDraft:
    if entailed >= SURE_ENTAILED:
        return draft.with_verdict(Support.FULL, ClaimGrader.NLI)
    if contradicted >= SURE_ENTAILED:
        return draft.with_verdict(Support.CONTRADICTED, ClaimGrader.NLI, word_remark("points_elsewhere", language))
    support = Support.PARTIAL if draft.support in (Support.PARTIAL, Support.FULL) else Support.NONE
    return draft.with_verdict(support, ClaimGrader.NLI, draft.reason or word_remark("says_part", language))
