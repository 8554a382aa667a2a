"""A second look at claims by the cross-encoder that the installation names.

The cross-encoder judges every claim that is not in its source's own words: only so does a better judge see what the offline
grader took for supported.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from app.domain.claims import Support
from app.domain.errors import ToolError
from app.domain.query import Language
from app.settings import ClaimGrader
from workflows.agents.kit import Kit
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.remarks import word_remark
from workflows.judging.verbatim import VERBATIM

ENTAILED_AT_ONCE = 200
SURE_ENTAILED = 0.5


class CrossEncoder(Protocol):
    """What judges may ask of the index owner, which has the cross-encoder where one is configured.

    Raises:
        ToolError: it cannot be reached, or has no such weights.
    """

    async def entail(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[float, float]]:
        """Return, for each premise and hypothesis, the probabilities of entailment and of contradiction."""
        ...


@dataclass(frozen=True, slots=True)
class Judges:
    """The judges: `reader` may have a cross-encoder; `second` names the second judge."""

    reader: CrossEncoder | None = None
    second: ClaimGrader = ClaimGrader.OFFLINE


async def look_again(drafts: list[ClaimDraft], kit: Kit, judges: Judges) -> list[ClaimDraft]:
    """Return the verdicts on claims that the offline grader has judged after the second look, which is not a model's."""
    if judges.reader is None or judges.second is not ClaimGrader.NLI:
        return drafts
    try:
        return await _look_by_entailment(drafts, judges.reader, kit.language)
    except ToolError:
        return drafts  # the verdicts from words alone stand


async def _look_by_entailment(drafts: list[ClaimDraft], reader: CrossEncoder, language: Language) -> list[ClaimDraft]:
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
    support = Support.NONE if draft.fails else Support.PARTIAL
    said = draft.reason if draft.support is not Support.UNJUDGED else ""
    return draft.with_verdict(support, ClaimGrader.NLI, said or word_remark("says_part", language))
