"""The verification of a collection: its snapshots, documents, passages and the points of its index."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from app.domain.errors import NotFound
from app.domain.evidence import snapshot_hash
from retrieval.building.build import RECIPE, passage_id, split_batches
from retrieval.building.chunking import split_passages
from retrieval.index.ports import PassagePlace
from retrieval.store.catalogue import Generation
from retrieval.store.documents import StoredDocument, StoredState, document_key_of
from retrieval.store.home import RetrievalHome

BATCH_DOCUMENTS = 64
SHOWN = 20
"""The most faults that are listed; the rest is only counted."""


@dataclass
class CollectionVerification:
    """The result of a verification: the documents' passages, those of them that are indexed, and the index's points.

    `problems` counts all faults; `examples` lists the first of them.
    """

    documents: int = 0
    passages: int = 0
    indexed: int = 0
    points: int = 0
    with_vectors: int = 0
    problems: int = 0
    examples: list[str] = field(default_factory=list)

    def add_fault(self, what: str, count: int = 1) -> None:
        """Count `count` faults of one kind, and store an example."""
        self.problems += count
        if len(self.examples) < SHOWN:
            self.examples.append(what)


def verify_collection(
    shelves: RetrievalHome, collection: str, told: Callable[[CollectionVerification], None] = lambda _: None
) -> CollectionVerification:
    """Check every document of a collection that is not being built; `told` is called with each interim result.

    Every snapshot must have the hash that names it, and every document its key. The passages of every document must be points of
    the index, at offsets within the snapshot. There must be no other points, and each must have a vector if searches use them.

    Raises:
        NotFound: the collection has no index.
    """
    name = shelves.index.resolve(collection)
    generation = shelves.catalogue.find_generation(name) if name else None
    if generation is None:
        raise NotFound(f"the collection {collection!r} has no index")
    found = CollectionVerification()
    for batch in split_batches(_list_documents(shelves, collection), BATCH_DOCUMENTS):
        _check_documents(shelves, generation, batch, found)
        told(found)
    _check_points(shelves, generation, found)
    return found


def _list_documents(shelves: RetrievalHome, collection: str) -> Iterator[StoredDocument]:
    states = (StoredState.NEW, StoredState.LIVE)
    return chain(*(shelves.store.list_documents(collection, state) for state in states))


def _check_documents(
    shelves: RetrievalHome, generation: Generation, batch: list[StoredDocument], found: CollectionVerification
) -> None:
    expected: dict[int, PassagePlace] = {}
    for document in batch:
        found.documents += 1
        text = _check_text(shelves, document, found)
        for start, end in split_passages(text, shelves.store.blocks_of(document.source.collection, document.key)):
            number = passage_id(document.key, start, end)
            expected[number] = PassagePlace(number, document.key, start, end)
            if not 0 <= start < end <= len(text):
                found.add_fault(f"{document.source.url}: a passage at {start}-{end} lies outside of its {len(text)} characters")
    there = shelves.index.read_places(generation.name, list(expected))
    found.passages += len(expected)
    found.indexed += len(there)
    for number, place in expected.items():
        if number not in there:
            found.add_fault(f"the passage {place.start}-{place.end} of document {place.document} is not in the index")
        elif there[number] != place:
            found.add_fault(f"the index has another place for the passage {place.start}-{place.end} of document {place.document}")


def _check_text(shelves: RetrievalHome, document: StoredDocument, found: CollectionVerification) -> str:
    """Read a document's text from the disk, and check its hash and its key; empty where the text is lost."""
    try:
        text = shelves.store.read_text(document.source.snapshot)
    except (NotFound, zlib.error, UnicodeDecodeError) as error:
        found.add_fault(f"{document.source.url}: its snapshot cannot be read ({error})")
        return ""
    if snapshot_hash(text) != document.source.snapshot:
        found.add_fault(f"{document.source.url}: its stored text does not have the hash {document.source.snapshot}")
    if document_key_of(document.source) != document.key:
        found.add_fault(f"{document.source.url}: its metadata do not have the key {document.key}")
    return text


def _check_points(shelves: RetrievalHome, generation: Generation, found: CollectionVerification) -> None:
    """Check the points. Every passage was looked up, so the index has stray points exactly when it has more points."""
    found.points = shelves.index.count(generation.name)
    found.with_vectors = shelves.index.count_dense(generation.name)
    missing = found.points - found.with_vectors
    if strays := found.points - found.indexed:
        found.add_fault(f"the index has {strays} points of no document", strays)
    if generation.dense and missing:
        found.add_fault(f"{missing} passages have no vector", missing)
    if generation.recipe != RECIPE:
        found.add_fault(f"the index was made by another version ({generation.recipe}); build the collection again")
