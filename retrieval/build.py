"""Build a collection: corpus -> documents -> passages -> sparse index -> switch -> dense vectors -> switch.

Each step can be cut off at any moment (kill -9) and goes on from what is on disk: documents and passages are named by their
content, so doing a step again changes nothing. What is being searched is never written to where the engine cannot do both.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Protocol, TypeVar

from app.domain.evidence import content_key
from retrieval.catalogue import Build, BuildPhase, Catalogue, Generation
from retrieval.chunking import split_passages
from retrieval.corpora.ports import Corpus, Unreadable
from retrieval.index.ports import Index, IndexedPassage, Place
from retrieval.ports import Document
from retrieval.sparse import RECIPE as SPARSE_RECIPE
from retrieval.sparse import SparseEncoder, average_length
from retrieval.store import DocumentState, DocumentStore, StoredDocument

RECIPE = f"passages-v1 {SPARSE_RECIPE}"
READ_BATCH = 32
WRITE_PASSAGES = 10_000
ENCODE_PAGE = 2_048
ENCODE_BATCH = 128
SAMPLE_DOCUMENTS = 32

T = TypeVar("T")


class PassageEncoder(Protocol):
    """Turns texts into dense unit vectors; `name` tells apart encoders whose vectors do not mix."""

    @property
    def name(self) -> str:
        """Kept with the index."""
        ...

    def passages(self, texts: Sequence[str]) -> Iterable[Sequence[float]]:
        """One vector a text, in order."""
        ...


@dataclass(frozen=True)
class Workshop:
    """What a build works with. `report` is told of every step; `clock` gives the time in UTC."""

    catalogue: Catalogue
    store: DocumentStore
    index: Index
    clock: Callable[[], datetime]
    report: Callable[[Build], None]

    def note(self, build: Build, **changes: object) -> Build:
        """Store and report a step of the build; returns it."""
        fresh = build.model_copy(update={**changes, "updated_at": self.clock()})
        self.catalogue.keep_build(fresh)
        self.report(fresh)
        return fresh


def passage_id(document: str, start: int, end: int) -> int:
    """The number of a passage in an index, fixed by its content: writing it twice leaves one point."""
    return int(content_key(document, str(start), str(end)), 16)


def index_text(title: str, text: str) -> str:
    """What is indexed for a passage: its document's title is context for the search, not part of the text."""
    return f"{title}\n{text}"


def begin_build(catalogue: Catalogue, collection: str, now: datetime) -> Build:
    """A new build, which reads the corpus (again). It takes over dense vectors that the last one left half done."""
    last = catalogue.build(collection)
    number = last.number + 1 if last else 1
    partial = last.generation if last and last.phase is BuildPhase.ENCODING else ""
    fresh = Build(
        collection=collection, number=number, phase=BuildPhase.READING, generation=partial, started_at=now, updated_at=now
    )
    catalogue.keep_build(fresh)
    return fresh


def read_corpus(shop: Workshop, build: Build, corpus: Corpus) -> Build:
    """Store the corpus's documents; those that are no longer in it are marked to leave the index."""
    skipped: list[Unreadable] = []
    read = 0
    for batch in _batches(corpus.documents(), READ_BATCH):
        documents = [item for item in batch if isinstance(item, Document)]
        skipped.extend(item for item in batch if isinstance(item, Unreadable))
        shop.store.add(build.collection, documents, build.number, shop.clock())
        read += len(documents)
        build = shop.note(build, done=read)
    shop.store.mark_gone(build.collection, build.number)
    shop.catalogue.keep_unreadable(build.collection, skipped)
    return shop.note(build, phase=BuildPhase.INDEXING, done=0, total=shop.store.count(build.collection))


def index_words(shop: Workshop, build: Build) -> Build:
    """Bring the word index up to date with the documents and switch to it."""
    name = f"{build.collection}.{build.number}.words"
    live = _generation(shop, shop.index.resolve(build.collection) or "")
    if live is not None and _current(shop, live):
        name = live.name
    elif live is None or live.name != name:  # else it was cut off just after the switch, and others search it now
        generation, states = _writable(shop, build, name)
        name = generation.name
        build = shop.note(build, generation=name)
        shop.index.delete_documents(name, shop.store.keys(build.collection, DocumentState.GONE))
        build = _write_documents(shop, build, generation, states)
        shop.index.optimize(name)
        shop.index.close(name)
        shop.index.switch(build.collection, name)
    shop.store.settle(build.collection)
    return shop.note(build, phase=BuildPhase.ENCODING, done=0, total=shop.index.count(name))


def encode_passages(shop: Workshop, build: Build, encoder: PassageEncoder) -> Build:
    """Give every passage its dense vector, in an index of its own, and switch to it when the last one is there."""
    live = _generation(shop, shop.index.resolve(build.collection) or "")
    if live is None or (live.dense and live.encoder == encoder.name):
        return shop.note(build, phase=BuildPhase.DONE, done=build.total, detail="")
    build = shop.note(build, phase=BuildPhase.ENCODING, total=shop.index.count(live.name), detail="")
    target = _to_encode(shop, build, live, encoder.name)
    build = shop.note(build, generation=target.name, done=shop.index.count_dense(target.name))
    while page := shop.index.without_dense(target.name, ENCODE_PAGE):
        for batch in _batches(page, ENCODE_BATCH):
            vectors = encoder.passages(_texts(shop, build, batch))
            shop.index.set_dense(target.name, zip((place.id for place in batch), vectors, strict=True))
            shop.index.flush(target.name)
            build = shop.note(build, done=build.done + len(batch))
    shop.index.optimize(target.name)
    shop.index.close(target.name)
    shop.catalogue.keep_generation(target.model_copy(update={"dense": True}))
    shop.index.switch(build.collection, target.name)
    return shop.note(build, phase=BuildPhase.DONE, done=build.total)


def _generation(shop: Workshop, name: str) -> Generation | None:
    return shop.catalogue.generation(name) if name else None


def _current(shop: Workshop, live: Generation) -> bool:
    changes = (shop.store.keys(live.collection, state) for state in (DocumentState.NEW, DocumentState.GONE))
    return live.recipe == RECIPE and not any(changes)


def _to_encode(shop: Workshop, build: Build, live: Generation, encoder: str) -> Generation:
    """The index to add this encoder's vectors to: one that was begun before, or a copy of the live one."""
    name = f"{build.collection}.{build.number}.{encoder.replace('.', '_')}"
    begun = _generation(shop, build.generation)
    if begun is None or begun.name == live.name or begun.name not in shop.index.names() or begun.name.endswith(".words"):
        begun = live.model_copy(update={"name": shop.index.derive(live.name, name), "dense": False})
    if begun.encoder not in ("", encoder):
        shop.index.clear_dense(begun.name)
    begun = begun.model_copy(update={"encoder": encoder})
    shop.catalogue.keep_generation(begun)
    return begun


def _writable(shop: Workshop, build: Build, name: str) -> tuple[Generation, tuple[DocumentState, ...]]:
    """The index to write to, and the states of the documents that it still lacks."""
    names = shop.index.names()
    begun = shop.catalogue.generation(name) if name in names else None
    base = _base(shop, build, names)
    if base is None:
        everything = (DocumentState.NEW, DocumentState.LIVE)
        return begun or _fresh(shop, build, name), everything
    if begun is None:
        begun = base.model_copy(update={"name": shop.index.derive(base.name, name), "dense": False})
        shop.catalogue.keep_generation(begun)
    return begun, (DocumentState.NEW,)


def _base(shop: Workshop, build: Build, names: Sequence[str]) -> Generation | None:
    """The index to start from: one that a cut-off encoding left, else the live one; None when the recipe has changed."""
    for name in (build.generation, shop.index.resolve(build.collection) or ""):
        generation = shop.catalogue.generation(name) if name in names else None
        if generation is not None and generation.recipe == RECIPE and not name.endswith(f".{build.number}.words"):
            return generation
    return None


def _fresh(shop: Workshop, build: Build, name: str) -> Generation:
    documents = list(shop.store.unwritten(build.collection, name, (DocumentState.NEW, DocumentState.LIVE)))
    step = max(1, len(documents) // SAMPLE_DOCUMENTS)
    length = average_length(text for document in documents[::step] for text in _passages_of(shop, document))
    shop.index.create(name)
    generation = Generation(name=name, collection=build.collection, recipe=RECIPE, average_length=length)
    shop.catalogue.keep_generation(generation)
    return generation


def _passages_of(shop: Workshop, document: StoredDocument) -> list[str]:
    text = shop.store.text(document.source.snapshot)
    return [index_text(document.source.title, text[start:end]) for start, end in split_passages(text)]


def _write_documents(shop: Workshop, build: Build, generation: Generation, states: tuple[DocumentState, ...]) -> Build:
    encoder = SparseEncoder(generation.average_length)
    waiting: list[IndexedPassage] = []
    written: list[str] = []
    pending = list(shop.store.unwritten(build.collection, generation.name, states))
    done = build.total - len(pending)
    for number, document in enumerate(pending, 1):
        waiting.extend(_points(shop, document, encoder))
        written.append(document.key)
        if len(waiting) >= WRITE_PASSAGES or number == len(pending):
            shop.index.upsert(generation.name, waiting)
            shop.index.flush(generation.name)
            shop.store.mark_written(build.collection, written, generation.name)
            waiting, written = [], []
            build = shop.note(build, done=done + number)
    return build


def _points(shop: Workshop, document: StoredDocument, encoder: SparseEncoder) -> Iterator[IndexedPassage]:
    text = shop.store.text(document.source.snapshot)
    for start, end in split_passages(text):
        sparse = encoder.passage(index_text(document.source.title, text[start:end]))
        yield IndexedPassage(passage_id(document.key, start, end), sparse, document.key, start, end, document.language)


def _texts(shop: Workshop, build: Build, places: Sequence[Place]) -> list[str]:
    texts = []
    for place in places:
        source = shop.store.source(build.collection, place.document)
        texts.append(index_text(source.title, shop.store.text(source.snapshot)[place.start : place.end]) if source else "")
    return texts


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
