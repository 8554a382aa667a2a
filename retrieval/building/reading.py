"""The first step of a build: it stores the corpus's documents as snapshots."""

from collections.abc import Iterator

from retrieval.building.build import BuildTools
from retrieval.corpora.ports import Corpus, UnreadableItem
from retrieval.ports import Document
from retrieval.store.catalogue import Build, BuildPhase

BATCH_DOCUMENTS = 128
BATCH_CHARS = 8_000_000


def read_corpus(shop: BuildTools, build: Build, corpus: Corpus) -> Build:
    """Store the corpus's documents, and mark stored ones that the corpus does not have for removal from the index.

    An interrupted reading continues where it stopped if the corpus is in the same state, else from the beginning.
    """
    build = _resume_reading(shop, build, corpus.take_fingerprint())
    licence = shop.catalogue.get(build.collection).licence
    for batch in _bounded_batches(corpus.read_documents(skip=build.done + build.skipped)):
        documents = [_add_licence(item, licence) for item in batch if isinstance(item, Document)]
        skipped = [item for item in batch if isinstance(item, UnreadableItem)]
        shop.store.add(build.collection, documents, build.number, shop.clock())
        if skipped:
            shop.catalogue.add_unreadable(build.collection, skipped)
        read, share = build.done + len(documents), corpus.share_read()
        total = round(read / share) if share > 0 else 0
        build = shop.note(build, done=read, skipped=build.skipped + len(skipped), total=total)
    shop.store.mark_gone(build.collection, build.number)
    return shop.note(build, phase=BuildPhase.INDEXING, done=0, total=shop.store.count(build.collection))


def _resume_reading(shop: BuildTools, build: Build, state: str) -> Build:
    if state and build.corpus_state == state:
        return build
    shop.catalogue.forget_unreadable(build.collection)
    begun = build.done or build.skipped
    number = build.number + 1 if begun else build.number  # a document that only the earlier reading met counts as absent
    return shop.note(build, number=number, done=0, skipped=0, total=0, corpus_state=state)


def _add_licence(document: Document, licence: str) -> Document:
    if document.source.licence or not licence:
        return document
    return document.model_copy(update={"source": document.source.model_copy(update={"licence": licence})})


def _bounded_batches(items: Iterator[Document | UnreadableItem]) -> Iterator[list[Document | UnreadableItem]]:
    """Yield the items in lists that are bounded in number and in length of text."""
    batch: list[Document | UnreadableItem] = []
    chars = 0
    for item in items:
        batch.append(item)
        chars += len(item.text) if isinstance(item, Document) else 0
        if len(batch) >= BATCH_DOCUMENTS or chars >= BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch
