"""The library of a home: it answers with passages, documents and snapshots from the indexes and the store."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from app.domain.errors import InvalidInput, NotFound, ToolError
from app.domain.evidence import Passage
from retrieval.building.build import index_text
from retrieval.encoding.answer_rater import AnswerRater
from retrieval.encoding.encoder import Encoder
from retrieval.index.ports import HybridQuery, Index, IndexDamaged, PassagePlace
from retrieval.index.sparse import SparseEncoder, SparseVector
from retrieval.ports import Document, SearchFilter, cut_passage
from retrieval.search.collection_shares import RankedCandidate, share_places
from retrieval.search.diversity import select_diverse
from retrieval.search.fusion import find_above_average, fuse_scores
from retrieval.search.joint_search import JointIndexes, Key, documents_of
from retrieval.search.meaning import TextComparer, choose_compared
from retrieval.search.question_parts import average_scores, split_question
from retrieval.search.reranker import Reranker, rerank
from retrieval.search.spelling import find_meant
from retrieval.store.catalogue import BuildPhase, Catalogue, Generation, collection_of, missing_collection_error
from retrieval.store.documents import DocumentStore

DEFAULT_COLLECTION = "sotu"
MAX_QUERY_CHARS = 2_000
MAX_LIMIT = 100
CANDIDATES = 200
"""The fewest candidates of each half of a hybrid search."""
READ_AHEAD = 3
"""The candidates for each wanted passage. Near-duplicates and crowded documents may need more."""
RERANKED = 50
"""The number of best passages that a reranker reads; the others keep their order behind them."""
MAX_COMPARED = 1_024
MAX_RATED = 128
MAX_RESPELLED = 8  # more unknown words in one request are hardly misspellings
_log = logging.getLogger(__name__)


class _LiveIndex(NamedTuple):
    """The index in use for a collection, and the collection's tenant, which never changes."""

    generation: Generation
    tenant: str


class _RankedPlace(NamedTuple):
    """A ranked candidate: the name of its index, its place, and its score."""

    within: str
    place: PassagePlace
    score: float


class Library:
    """The search over the collections of one home. Threads may share it.

    `encoder` is called when something is searched or compared, `rater` when texts are rated; both return None for none.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        store: DocumentStore,
        index: Index,
        encoder: Callable[[], Encoder | None],
        reranker: Reranker | None = None,
        rater: Callable[[], AnswerRater | None] = lambda: None,
    ) -> None:
        self._catalogue = catalogue
        self._store = store
        self._index = index
        self._encoder = encoder
        self._comparer = TextComparer(encoder)
        self._reranker = reranker
        self._rater = rater
        self._live: dict[str, _LiveIndex] = {}
        self._words = SparseEncoder(1.0)  # queries are weighted alike whatever the passages' length

    def refresh(self, collection: str) -> None:
        """Search the index that the collection's alias now points at, and delete its old indexes.

        A damaged index is deleted too: its collection is not ready then, and must be built again.
        """
        generation = self._find_usable(collection)
        before = self._live.get(collection)
        if generation is None:
            self._live.pop(collection, None)
        else:
            self._live[collection] = _LiveIndex(generation, self._catalogue.get(collection).tenant)
        if before is not None and (generation is None or generation.name != before.generation.name):
            self._index.close(before.generation.name)
            self._store.clear_memory()
        self._drop_leftovers(collection)

    def _find_usable(self, collection: str) -> Generation | None:
        name = self._index.resolve(collection)
        generation = self._catalogue.find_generation(name) if name else None
        if name is None or generation is None:
            return None
        try:
            if self._index.count(name) or not self._store.has_live(collection):
                return generation
            _log.warning("the index %r is empty although %r has indexed documents; it is built again", name, collection)
        except (IndexDamaged, NotFound) as error:
            _log.warning("%s", error)
        self._index.unalias(collection)
        self._index.drop(name)
        self._catalogue.drop_generation(name)
        return None

    def is_ready(self, collection: str) -> bool:
        """Whether the collection can be searched."""
        return collection in self._live

    def generation_of(self, collection: str) -> Generation | None:
        """Return the index in use for a collection; None where there is none."""
        live = self._live.get(collection)
        return live.generation if live else None

    def search(self, query: str, limit: int, where: SearchFilter) -> list[Passage]:
        """See `Searcher.search`, over the collections that have an index. Raises also `NotFound` for none, and `InvalidInput`."""
        if not 1 <= limit <= MAX_LIMIT:
            raise InvalidInput(f"ask for 1 to {MAX_LIMIT} passages, not {limit}")
        try:
            return self._search_indexes(query, limit, self._find_ready(where), where)
        except NotFound:  # an index was replaced after its name was looked up
            return self._search_indexes(query, limit, self._find_ready(where), where)

    def respell(self, words: Sequence[str], where: SearchFilter) -> dict[str, str]:
        """See `Speller.respell`; errors as in `search`."""
        within = _LibraryWords(self, self._find_ready(where), where)
        found = {word: find_meant(word, within, self._words) for word in words[:MAX_RESPELLED]}
        return {word: other for word, other in found.items() if other is not None}

    def list_permitted(self, where: SearchFilter) -> list[str]:
        """Return a filter's collections that its tenant may search; others do not exist for it. Raises `NotFound` for none."""
        names = where.collections or (DEFAULT_COLLECTION,)
        permitted = [name for name in names if self._is_permitted(name, where.tenant)]
        if not permitted:
            raise missing_collection_error(names[0])
        return permitted

    def _is_permitted(self, name: str, tenant: str | None) -> bool:
        live = self._live.get(name)
        try:
            return (live.tenant if live else self._catalogue.get(name).tenant) in ("", tenant)
        except NotFound:
            return False

    def read(self, url: str, collections: Sequence[str], tenant: str | None = None) -> Document:
        """Return the document of this tenant or of none under an address, at best of `collections`, or raise `NotFound`."""
        found = self._store.find_by_url(url, collections, tenant or "")
        if found is None:
            raise NotFound(f"nothing is stored under {url!r}: only addresses that a search returned can be read")
        return found

    def get_snapshot(self, name: str, tenant: str | None = None) -> str:
        """Return the text, by its hash, of a document of this tenant or of none, or raise `NotFound`."""
        if not self._store.holds(name, tenant or ""):
            raise NotFound(f"no snapshot {name} is stored")
        return self._store.text_of(name)

    def _find_ready(self, where: SearchFilter) -> list[Generation]:
        """Return the indexes of a filter that can be searched now. Raises `NotFound` or `ToolError` where none can."""
        names = self.list_permitted(where)
        ready = [generation for name in names if (generation := self.generation_of(name))]
        if not ready:
            build = self._catalogue.find_build(names[0])
            reason = f": {build.detail}" if build and build.detail else ""
            raise ToolError(f"the collection {names[0]!r} has no index; its build has not come far enough or failed{reason}")
        return ready

    def _search_indexes(self, query: str, limit: int, generations: Sequence[Generation], where: SearchFilter) -> list[Passage]:
        query = query[:MAX_QUERY_CHARS]
        ranked = self._rank(query, limit, generations, where)
        if self._reranker is None:
            return select_diverse(self.read_passages(ranked), limit)
        best = rerank(self._reranker, query, list(self.read_passages(ranked[:RERANKED])))
        return select_diverse(chain(best, self.read_passages(ranked[RERANKED:])), limit)

    def _rank(self, query: str, limit: int, generations: Sequence[Generation], where: SearchFilter) -> list[_RankedPlace]:
        encoder = self._encoder_of(generations, query)
        vector = found if encoder and any(found := encoder.encode_query(query)) else None
        asked = HybridQuery(self._words.weigh_query(query), vector, max(CANDIDATES, READ_AHEAD * limit), where)
        within = JointIndexes(self._index, generations)
        sparse, found_dense = within.search(asked)
        places = within.find_places(sparse.keys() | found_dense.keys())
        missed = within.compare(vector, sparse.keys() - found_dense.keys()) if vector else {}
        compared = {key: places[key] for key in choose_compared(sparse, READ_AHEAD * limit) if key in places}
        dense = found_dense if vector else self._compare_places(query, compared)
        if encoder and vector and (parts := split_question(query)):
            best = within.compare_best(encoder.encode_passages(parts).tolist(), sparse.keys() | found_dense.keys())
            dense, missed = average_scores(found_dense, best), average_scores(missed, best)
        documents = documents_of(places)
        ranked = [hit for hit in fuse_scores(sparse, dense, asked.limit, documents, missed) if hit[0] in places]
        if len(generations) > 1:
            good = find_above_average(sparse, dense, asked.limit, missed)
            seen_as = [RankedCandidate(collection_of(key.within), documents[key], key in good) for key, _ in ranked]
            ranked = share_places(ranked, seen_as, limit)
        return [_RankedPlace(key.within, places[key], score) for key, score in ranked]

    def find_places(
        self, terms: SparseVector, most: int, generations: Sequence[Generation], where: SearchFilter
    ) -> list[_RankedPlace]:
        """Find the passages with any of these terms, best first."""
        within = JointIndexes(self._index, generations)
        scores, _ = within.search(HybridQuery(terms, None, most, where))
        places = within.find_places(scores)
        best = sorted(places, key=lambda key: (-scores[key], key))
        return [_RankedPlace(key.within, places[key], scores[key]) for key in best]

    def compare(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Comparer.compare`; raises `InvalidInput` for too many texts."""
        if len(texts) > MAX_COMPARED:
            raise InvalidInput(f"compare at most {MAX_COMPARED} texts, not {len(texts)}")
        return self._comparer.compare(query[:MAX_QUERY_CHARS], texts)

    def rate(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `Rater.rate`; raises `InvalidInput` for too many texts."""
        if len(texts) > MAX_RATED:
            raise InvalidInput(f"rate at most {MAX_RATED} texts, not {len(texts)}")
        rater = self._rater()
        return rater.rate(question[:MAX_QUERY_CHARS], texts) if rater else []

    def _compare_places(self, query: str, places: Mapping[Key, PassagePlace]) -> dict[Key, float] | None:
        """Compare passages that have no vectors yet with a query on the spot; None where nothing can encode it."""
        known = {key: text for key, place in places.items() if (text := self._index_text_of(key, place))}
        cosines = self._comparer.compare(query, list(known.values()))
        return dict(zip(known, cosines, strict=True)) if cosines else None

    def _index_text_of(self, key: Key, place: PassagePlace) -> str:
        """Return the text that stands for a passage in the index; empty when it was removed meanwhile."""
        source = self._store.source_of(collection_of(key.within), place.document)
        return index_text(source.title, self._store.text_of(source.snapshot)[place.start : place.end]) if source else ""

    def _encoder_of(self, generations: Sequence[Generation], query: str) -> Encoder | None:
        """Return the query encoder if it made all dense vectors of these indexes and knows the query's language; else None."""
        encoder = self._encoder() if all(generation.dense for generation in generations) else None
        if encoder is None or any(generation.encoder != encoder.name for generation in generations):
            return None
        return encoder if encoder.can_read(query) else None

    def read_passages(self, ranked: Iterable[_RankedPlace]) -> Iterator[Passage]:
        """Yield the ranked passages with their texts, each read at its turn."""
        for within, place, score in ranked:
            source = self._store.source_of(collection_of(within), place.document)
            if source is None:  # removed from the collection between the query and now
                continue
            text, blocks = self._store.text_of(source.snapshot), self._store.blocks_of(collection_of(within), place.document)
            yield cut_passage(Document(source=source, text=text, blocks=blocks), place.start, place.end, round(score, 6))

    def _drop_leftovers(self, collection: str) -> None:
        build = self._catalogue.find_build(collection)
        kept = {self._index.resolve(collection)}
        current = f"{collection}.{build.number}." if build and build.phase is not BuildPhase.DONE else None
        if build is not None:
            kept.add(build.generation)
        for name in self._index.list_names():
            mine = collection_of(name) == collection
            if mine and name not in kept and not (current and name.startswith(current)):
                self._index.drop(name)
                self._catalogue.drop_generation(name)

    def remove(self, collection: str) -> None:
        """Delete a collection with its index, documents and snapshots. Raises `NotFound` when there is none of this name."""
        self._catalogue.get(collection)
        self._live.pop(collection, None)
        self._index.unalias(collection)
        for name in self._index.list_names():
            if collection_of(name) == collection:
                self._index.drop(name)
        self._store.forget(collection)
        self._store.clear_memory()
        self._catalogue.remove(collection)

    def list_collections(self) -> list[str]:
        """Return the names of all collections."""
        return [collection.name for collection in self._catalogue.list_all()]


@dataclass(frozen=True)
class _LibraryWords:
    """The words of some indexes under a filter, as a `spelling.WordIndex`."""

    library: Library
    generations: Sequence[Generation]
    where: SearchFilter

    def count(self, terms: SparseVector, most: int) -> int:
        """Count the passages with any of these terms, up to `most`."""
        return len(self.library.find_places(terms, most, self.generations, self.where))

    def find_texts(self, terms: SparseVector, most: int) -> Sequence[str]:
        """Return the texts of passages with any of these terms, those with the rarest first."""
        found = self.library.find_places(terms, most, self.generations, self.where)
        return [passage.text for passage in self.library.read_passages(found)]
