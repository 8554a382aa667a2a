"""One section of a finished report, put together again without a model: other statements of the findings, or more of them."""

from collections.abc import Sequence

from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan
from app.domain.query import ResearchQuery
from app.domain.report import Section
from workflows.agents.extractive.asking import asked_of
from workflows.agents.extractive.material import Item, Material, material_of
from workflows.agents.extractive.novelty import select
from workflows.agents.extractive.question import analyse
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.survey import RANK_FADE, paragraphs
from workflows.agents.extractive.words import terms
from workflows.agents.kit import Kit
from workflows.agents.revision import NothingToAdd, SectionRevision
from workflows.agents.wording import say

FEWEST, MOST, MORE = 3, 8, 6
WISHED = 2.0
"""What a statement gains that holds all words of the reader's wish: more than its place in the plan and its rank can give it."""
ELSEWHERE = 0.3
"""What a statement found for another part of the plan counts."""


async def revise(
    revision: SectionRevision, query: ResearchQuery, plan: ResearchPlan, findings: tuple[Finding, ...], kit: Kit
) -> tuple[Section, ...]:
    """The section with other statements, or (`deepen`) with further ones behind what it says; none that the report has already.

    Raises:
        NothingMore: every statement that was found is in the report already.
    """
    material = material_of(plan, findings)
    said = [item.sentence for item in material.items if item.sentence.quote.key in revision.inside | revision.outside]
    fresh = select(_candidates(revision, material), MORE if revision.deepen else _length(revision), said)
    if not fresh:
        raise NothingToAdd(say("nothing_more", kit.language))
    language = analyse(asked_of(query)).language
    first, *parts = revision.sections
    told = "\n\n".join(paragraphs(language, fresh))
    if revision.deepen:
        return (first.model_copy(update={"body": f"{first.body}\n\n{told}".strip()}), *parts)
    return (first.model_copy(update={"body": told, "changed_by": ""}),)


def _length(revision: SectionRevision) -> int:
    """About as many statements as the section has now."""
    return min(MOST, max(FEWEST, len(revision.inside)))


def _candidates(revision: SectionRevision, material: Material) -> Sequence[tuple[float, Sentence]]:
    """What the report does not cite yet, of the section's own part of the plan first."""
    part, wished = _part(revision, material), frozenset(terms(revision.wish))
    cited = revision.inside | revision.outside
    return sorted(
        ((_worth(item, part, wished), item.sentence) for item in material.items if item.sentence.quote.key not in cited),
        key=lambda pair: -pair[0],
    )


def _part(revision: SectionRevision, material: Material) -> int | None:
    """The part of the plan that the section tells of: by its heading, or else by what it cites; None where it cites nothing."""
    if revision.heading in material.titles:
        return material.titles.index(revision.heading)
    cited = [item.part for item in material.items if item.sentence.quote.key in revision.inside]
    return max(cited, key=cited.count) if cited else None


def _worth(item: Item, part: int | None, wished: frozenset[str]) -> float:
    share = len(wished & item.sentence.term_set) / len(wished) if wished else 0.0
    return WISHED * share + (1.0 if part is None or item.part == part else ELSEWHERE) / (1 + RANK_FADE * item.rank)
