"""Search results with the orders to machines that the index has found in them."""

from collections.abc import Iterable

from app.domain.evidence import Passage
from retrieval.building.screening import name_finder
from retrieval.search.library import Library
from retrieval.store.screened import ScreenedDocuments


def mark_screened(passages: Iterable[Passage], screened: ScreenedDocuments, library: Library) -> list[Passage]:
    """Return the passages, those of screened documents with their orders."""
    finders: dict[str, str] = {}
    found = []
    for passage in passages:
        collection = passage.source.collection
        if collection not in finders:
            generation = library.generation_of(collection)
            finders[collection] = name_finder(generation.recipe) if generation else ""
        found.append(screened.mark(passage, finders[collection]))
    return found
