"""Further rubrics for the query of a tree, which stays unchanged: the ablation of DeepRubric section 4.4 (Table 2)."""

from collections.abc import Set
from dataclasses import dataclass

from app.domain.errors import ToolError
from app.domain.evidence_rubric import EvidenceRubric, Variant
from app.domain.missing import Missing
from training.synthesis.source_corpus import SourceCorpus
from workflows.agents.kit import Kit
from workflows.judging.evidence_generation import write_closed_book_rubric, write_rubric_over

PASSAGES = 12


@dataclass(frozen=True, slots=True)
class WrittenVariants:
    """The rubrics, and the addresses of the documents that the search-based one rests on."""

    rubrics: tuple[EvidenceRubric, ...] = ()
    documents: tuple[str, ...] = ()


async def write_variants(
    kit: Kit, corpus: SourceCorpus, query: str, unrevised: EvidenceRubric, wanted: Set[Variant]
) -> WrittenVariants | Missing:
    """Write the wanted variants; missing if one of them is, so that all variants of a set have the same queries."""
    rubrics = [unrevised] if Variant.UNREVISED in wanted else []
    documents: tuple[str, ...] = ()
    if Variant.CLOSED_BOOK in wanted:
        closed = await write_closed_book_rubric(kit, query)
        if isinstance(closed, Missing):
            return closed
        rubrics.append(closed)
    if Variant.SEARCH in wanted:
        searched = await _write_searched(kit, corpus, query)
        if isinstance(searched, Missing):
            return searched
        rubrics.append(searched[0])
        documents = searched[1]
    return WrittenVariants(tuple(rubrics), documents)


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
