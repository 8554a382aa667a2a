"""Further rubrics for the query of a tree, which stays unchanged: the ablation of DeepRubric section 4.4 (Table 2)."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from app.domain.errors import ToolError
from app.domain.evidence_rubric import EvidenceRubric, Variant
from app.domain.missing import Missing
from training.synthesis.source_corpus import SourceCorpus
from workflows.agents.kit import Kit
from workflows.judging.evidence_generation import PASSAGES, write_closed_book_rubric, write_rubric_over


@dataclass(frozen=True, slots=True)
class WrittenVariants:
    """Rubrics by variant, and the addresses of the documents that the search-based one rests on."""

    rubrics: Mapping[Variant, EvidenceRubric] = field(default_factory=dict)
    documents: tuple[str, ...] = ()


async def write_variants(
    kit: Kit, corpus: SourceCorpus, query: str, unrevised: EvidenceRubric, wanted: Set[Variant]
) -> WrittenVariants | Missing:
    """Write the wanted variants; missing if one of them is, so that all variants of a set have the same queries."""
    rubrics: dict[Variant, EvidenceRubric] = {}
    documents: tuple[str, ...] = ()
    if Variant.UNREVISED in wanted:
        rubrics[Variant.UNREVISED] = unrevised
    if Variant.CLOSED_BOOK in wanted:
        closed = await write_closed_book_rubric(kit, query)
        if isinstance(closed, Missing):
            return closed
        rubrics[Variant.CLOSED_BOOK] = closed
    if Variant.SEARCH in wanted:
        searched = await _write_searched(kit, corpus, query)
        if isinstance(searched, Missing):
            return searched
        rubrics[Variant.SEARCH], documents = searched
    return WrittenVariants(rubrics, documents)


async def _write_searched(kit: Kit, corpus: SourceCorpus, query: str) -> tuple[EvidenceRubric, tuple[str, ...]] | Missing:
    try:
        found = await corpus.search(query, PASSAGES)
    except ToolError as error:
        return Missing(f"search: {error}")
    rubric = await write_rubric_over(kit, query, found) if found else Missing("the search found nothing")
    if isinstance(rubric, Missing):
        return rubric
    used = {key for criterion in rubric.criteria for key in criterion.source_leaf_ids}
    return rubric, tuple(dict.fromkeys(passage.source.url for passage in found if passage.key in used))
