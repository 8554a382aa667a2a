"""The second step of a build: it updates the word index to the documents and switches searches to it.

Known passages keep their dense vectors. A few new passages are encoded before the switch, so that one copy of the index is
enough. Many are encoded by the next step, while searches use the vectors that exist.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from retrieval.building.build import RECIPE, BuildTools, PassageEncoder, passage_id, split_batches
from retrieval.building.chunking import split_passages
from retrieval.building.vectors import add_vectors
from retrieval.index.ports import IndexedPassage
from retrieval.index.sparse import SparseEncoder, average_lengths
from retrieval.language.paragraphs import Span
from retrieval.store.catalogue import Build, BuildPhase, Generation
from retrieval.store.documents import StoredDocument, StoredState

WRITE_PASSAGES = 10_000
DELETE_DOCUMENTS = 1_000
SAMPLE_DOCUMENTS = 32
FEW_PASSAGES = 256
"""Two cores encode this many passages in about two seconds, a delay that new documents can bear."""
NEARLY_ALL = 0.8
"""The share of passages with dense vectors from which a hybrid search beats a search by words alone."""


class _DocumentTexts(NamedTuple):
    """A document's title, and its passages with their places in it."""

    title: str
    spans: Sequence[Span]
    texts: Sequence[str]


def index_words(shop: BuildTools, build: Build, encoder: Callable[[], PassageEncoder | None]) -> Build:
    """Update the word index to the documents and switch to it. `encoder` is called only where the index has vectors."""
    name = f"{build.collection}.{build.number}.words"
    live = shop.live_generation_of(build.collection)
    if live is not None and _is_current(shop, live):
        name = (_find_base(shop, build, shop.index.list_names()) or live).name  # vectors that were begun go on
    elif live is None or live.name != name:  # else it was killed just after the switch, and searches use it now
        generation, states = _open_writable(shop, build, name)
        name = generation.name
        build = shop.note(build, generation=name)
        _delete_gone(shop, generation)
        build = _write_documents(shop, build, generation, states)
        build = _keep_hybrid(shop, build, generation, encoder)
        shop.index.optimize(name)
        shop.index.close(name)
        shop.index.switch(build.collection, name)
    shop.store.settle(build.collection)
    return shop.note(build, phase=BuildPhase.ENCODING, generation=name, done=0, total=shop.index.count(name))


def _is_current(shop: BuildTools, live: Generation) -> bool:
    changed = chain(*(shop.store.list_documents(live.collection, state) for state in (StoredState.NEW, StoredState.GONE)))
    measured = live.average_length > 0 or not shop.index.count(live.name)
    return live.recipe == RECIPE and measured and next(changed, None) is None


def _open_writable(shop: BuildTools, build: Build, name: str) -> tuple[Generation, tuple[StoredState, ...]]:
    """Return the index to write to, and the states of the documents that it lacks."""
    names = shop.index.list_names()
    begun = shop.catalogue.find_generation(name) if name in names else None
    base = _find_base(shop, build, names)
    if base is None:
        return begun or _create_generation(shop, build, name), (StoredState.NEW, StoredState.LIVE)
    if begun is None:
        begun = base.model_copy(update={"name": shop.index.derive(base.name, name)})
        shop.catalogue.keep_generation(begun)
    return begun, (StoredState.NEW,)


def _find_base(shop: BuildTools, build: Build, names: Sequence[str]) -> Generation | None:
    """Return the index to start from: that of an interrupted encoding, else the live one.

    None where the recipe has changed, or where the index never had a passage whose length could be measured.
    """
    for name in (build.generation, shop.index.resolve(build.collection) or ""):
        generation = shop.catalogue.find_generation(name) if name in names else None
        if generation is None or generation.recipe != RECIPE or not generation.average_length:
            continue
        if not name.endswith(f".{build.number}.words"):
            return generation
    return None


def _create_generation(shop: BuildTools, build: Build, name: str) -> Generation:
    sample = (_texts_of(shop, build.collection, document) for document in _sample_documents(shop, build))
    length, window = average_lengths((document.title, document.texts) for document in sample)
    shop.index.create(name, forgets=bool(shop.catalogue.get(build.collection).tenant))
    generation = Generation(name=name, collection=build.collection, recipe=RECIPE, average_length=length, average_window=window)
    shop.catalogue.keep_generation(generation)
    return generation


def _sample_documents(shop: BuildTools, build: Build) -> Iterator[StoredDocument]:
    """Yield some documents from all parts of the collection."""
    step = max(1, shop.store.count(build.collection) // SAMPLE_DOCUMENTS)
    for state in (StoredState.NEW, StoredState.LIVE):
        for number, document in enumerate(shop.store.list_documents(build.collection, state)):
            if number % step == 0:
                yield document


def _texts_of(shop: BuildTools, collection: str, document: StoredDocument) -> _DocumentTexts:
    text = shop.store.text_of(document.source.snapshot)
    spans = split_passages(text, shop.store.blocks_of(collection, document.key))
    return _DocumentTexts(document.source.title, spans, [text[span.start : span.end] for span in spans])


def _delete_gone(shop: BuildTools, generation: Generation) -> None:
    for gone in split_batches(shop.store.list_documents(generation.collection, StoredState.GONE), DELETE_DOCUMENTS):
        shop.index.delete_documents(generation.name, [document.key for document in gone])


def _write_documents(shop: BuildTools, build: Build, generation: Generation, states: tuple[StoredState, ...]) -> Build:
    encoder = SparseEncoder(generation.average_length, generation.average_window)
    tenant = shop.catalogue.get(build.collection).tenant
    waiting: list[IndexedPassage] = []
    written: list[str] = []
    build = shop.note(build, done=shop.store.count_written(build.collection, generation.name))
    for document in chain(*(shop.store.list_documents(build.collection, state, generation.name) for state in states)):
        waiting.extend(_points_of(shop, document, encoder, tenant))
        written.append(document.key)
        if len(waiting) >= WRITE_PASSAGES:
            build = _write(shop, build, generation, waiting, written)
            waiting, written = [], []
    return _write(shop, build, generation, waiting, written)


def _write(
    shop: BuildTools, build: Build, generation: Generation, passages: Sequence[IndexedPassage], documents: Sequence[str]
) -> Build:
    """Write these documents' passages to disk, and then mark the documents as written."""
    if passages:
        shop.index.upsert(generation.name, passages)
    shop.index.flush(generation.name)
    shop.store.mark_written(build.collection, documents, generation.name)
    return shop.note(build, done=build.done + len(documents))


def _keep_hybrid(shop: BuildTools, build: Build, generation: Generation, encoder: Callable[[], PassageEncoder | None]) -> Build:
    """Encode the few passages without a vector in an index that has vectors, and store whether searches use its vectors."""
    if not generation.dense:
        return build
    found = encoder()
    usable = found is not None and found.name == generation.encoder
    if found is not None and usable and len(shop.index.list_without_dense(generation.name, FEW_PASSAGES + 1)) <= FEW_PASSAGES:
        build = build.model_copy(update={"detail": add_vectors(shop, build, generation, found).detail})
    nearly_all = shop.index.count_dense(generation.name) >= NEARLY_ALL * shop.index.count(generation.name)
    shop.catalogue.keep_generation(generation.model_copy(update={"dense": usable and nearly_all}))
    return build


def _points_of(shop: BuildTools, document: StoredDocument, encoder: SparseEncoder, tenant: str) -> Iterator[IndexedPassage]:
    published = document.source.published
    title, spans, texts = _texts_of(shop, document.source.collection, document)
    for (start, end), sparse in zip(spans, encoder.weigh_passages(title, texts), strict=True):
        number = passage_id(document.key, start, end)
        yield IndexedPassage(number, sparse, document.key, start, end, document.language, tenant, published)
