"""DeepRubric's two baselines, written by a model: criteria from the question alone, or from passages found for it (section 4.4).

The evidence of a factual criterion is looked up in the passage it names: without a match there is no criterion.
"""

from collections.abc import Mapping, Sequence

from pydantic import Field, ValidationError

from app.domain.evidence import Passage
from app.domain.evidence_rubric import FEWEST, CriterionType, EvidenceCriterion, EvidenceRubric, Variant
from app.domain.missing import Missing
from workflows.agents.kit import Kit
from workflows.agents.quoting import quote_from
from workflows.agents.steps import StepAnswer, declare_step
from workflows.agents.untrusted import as_source
from workflows.judging.judge_call import ask_judge

PASSAGE_CHARS = 2_000


class CheckAnswer(StepAnswer):
    """One criterion. A bare string is its description."""

    main = "description"

    type: str = Field(default="", description="factual or logical", json_schema_extra={"enum": [*CriterionType]})
    description: str = Field(default="", description="the one check, in one sentence")
    weight: float = Field(default=-1.0, description="0 to 1")


class GroundedAnswer(CheckAnswer):
    """One criterion with its evidence."""

    passages: tuple[str, ...] = Field(default=(), description="ids of the passages that say it, such as p2; none if logical")
    evidence: tuple[str, ...] = Field(default=(), description="their sentences that say it, copied exactly; none if logical")


class ClosedBookAnswer(StepAnswer):
    """Criteria from the question alone. An answer with too few is asked for again, with the missing number."""

    criteria: tuple[CheckAnswer, ...] = Field(min_length=FEWEST)


class SearchedAnswer(StepAnswer):
    """Criteria from the question and passages."""

    criteria: tuple[GroundedAnswer, ...] = Field(min_length=FEWEST)


CLOSED_BOOK = declare_step("rubric_closed_book", ClosedBookAnswer, max_tokens=2_500)
SEARCHED = declare_step("rubric_searched", SearchedAnswer, max_tokens=4_000)


async def write_closed_book_rubric(kit: Kit, question: str) -> EvidenceRubric | Missing:
    """Write a rubric from the question alone; missing if the model gives too few usable criteria."""

    def read(said: ClosedBookAnswer) -> EvidenceRubric | None:
        return _make_rubric(Variant.CLOSED_BOOK, [_make_criterion(n, check, {}) for n, check in enumerate(said.criteria, 1)], kit)

    return await ask_judge(kit, CLOSED_BOOK, read, question=question)


async def write_rubric_over(kit: Kit, question: str, passages: Sequence[Passage]) -> EvidenceRubric | Missing:
    """Write a rubric from these passages. `source_leaf_ids` holds the content keys of the passages."""
    known = {f"p{n}": passage for n, passage in enumerate(passages, 1)}
    shown = "\n\n".join(
        f"[{short}] {as_source(passage.source.title)}\n{as_source(passage.text[:PASSAGE_CHARS])}"
        for short, passage in known.items()
    )

    def read(said: SearchedAnswer) -> EvidenceRubric | None:
        return _make_rubric(Variant.SEARCH, [_make_criterion(n, check, known) for n, check in enumerate(said.criteria, 1)], kit)

    return await ask_judge(kit, SEARCHED, read, question=question, passages=shown)


def _make_rubric(variant: Variant, criteria: Sequence[EvidenceCriterion | None], kit: Kit) -> EvidenceRubric | None:
    """Return a rubric of the usable criteria, each wording once; None if they make no valid rubric."""
    kept: dict[str, EvidenceCriterion] = {}
    for criterion in criteria:
        if criterion is not None and (variant is Variant.CLOSED_BOOK or criterion.grounded or _is_logical(criterion)):
            kept.setdefault(criterion.description.casefold(), criterion)
    try:
        return EvidenceRubric(variant=variant, criteria=tuple(kept.values()), model=kit.chat.name)
    except ValidationError:
        return None


def _is_logical(criterion: EvidenceCriterion) -> bool:
    return criterion.type is CriterionType.LOGICAL


def _make_criterion(number: int, said: CheckAnswer, passages: Mapping[str, Passage]) -> EvidenceCriterion | None:
    kind = said.type.strip().lower()
    if said.weight < 0:
        return None
    rests = _find_evidence(said, passages) if kind == CriterionType.FACTUAL and isinstance(said, GroundedAnswer) else {}
    try:
        return EvidenceCriterion(
            id=f"R{number}",
            type=CriterionType(kind),
            description=said.description,
            weight=said.weight,
            source_leaf_ids=tuple(rests),
            evidence=tuple(rests.values()),
        )
    except ValueError:
        return None


def _find_evidence(said: GroundedAnswer, passages: Mapping[str, Passage]) -> dict[str, str]:
    """Return, by passage key, the passage's own words for what the model copied from it."""
    found: dict[str, str] = {}
    for short in said.passages:
        passage = passages.get(short.strip().strip("[]").lower())
        quotes = [quote for words in said.evidence if passage and (quote := quote_from(passage, words))]
        if passage and quotes:
            found[passage.key] = " ".join(dict.fromkeys(quote.text for quote in quotes))
    return found
