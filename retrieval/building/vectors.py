"""The last step of a build: it gives every passage its dense vector."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain

from retrieval.building.build import BuildTools, PassageEncoder, index_text, split_batches
from retrieval.index.ports import PassagePlace
from retrieval.store.catalogue import Build, BuildPhase, Generation

PAGE = 2_048
BATCH = 256
MOST_NAMED = 5


def encode_passages(shop: BuildTools, build: Build, encoder: PassageEncoder) -> Build:
    """Give every passage its dense vector in a separate index, and switch to that index when all are there."""
    live = shop.live_generation_of(build.collection)
    if live is None or _is_complete(shop, live, encoder.name):
        detail = build.detail if build.phase is BuildPhase.ENCODING else ""  # what this build, and not an earlier one, says
        return shop.note(build, phase=BuildPhase.DONE, done=build.total, detail=detail)
    build = shop.note(build, phase=BuildPhase.ENCODING, total=shop.index.count(live.name), detail="")
    target = _open_target(shop, build, live, encoder)
    build = shop.note(build, generation=target.name, done=shop.index.count_dense(target.name))
    build = add_vectors(shop, build, target, encoder)
    shop.index.optimize(target.name)
    shop.index.close(target.name)
    shop.catalogue.keep_generation(target.model_copy(update={"dense": True}))
    shop.index.switch(build.collection, target.name)
    return shop.note(build, phase=BuildPhase.DONE, done=build.total)


def leave_to_words(shop: BuildTools, build: Build, reason: str) -> Build:
    """End a build without an encoder: searches use words alone, unless every passage already has its vector."""
    live = shop.live_generation_of(build.collection)
    if live is not None and live.dense and shop.index.list_without_dense(live.name, 1):
        shop.catalogue.keep_generation(live.model_copy(update={"dense": False}))
    return shop.note(build, phase=BuildPhase.DONE, detail=reason)


def add_vectors(shop: BuildTools, build: Build, target: Generation, encoder: PassageEncoder) -> Build:
    """Give a dense vector to each passage of an index that lacks one. Flushed vectors survive a kill.

    A batch is written while the next one is encoded. The build's detail names those for which the encoder has zeros only.
    """
    odd: list[PassagePlace] = []
    with ThreadPoolExecutor(1, thread_name_prefix="vectors") as writer:
        writing: Future[int] | None = None
        for batch in chain.from_iterable(split_batches(page, BATCH) for page in _pages_without_vectors(shop, target)):
            vectors = encoder.encode_passages(_texts_of(shop, build, batch))
            odd += [place for place, vector in zip(batch, vectors, strict=True) if not any(vector)]
            build = _note_written(shop, build, writing)
            writing = writer.submit(_write, shop, target, batch, vectors)
        build = _note_written(shop, build, writing)
    return shop.note(build, detail=_describe_odd(shop, build, odd)) if odd else build


def _describe_odd(shop: BuildTools, build: Build, odd: Sequence[PassagePlace]) -> str:
    """Say which documents have passages that only words find."""
    sources = (shop.store.source_of(build.collection, place.document) for place in odd)
    titles = list(dict.fromkeys(source.title for source in sources if source))
    more = f" and {len(titles) - MOST_NAMED} more" if len(titles) > MOST_NAMED else ""
    named = ", ".join(titles[:MOST_NAMED]) + more
    return f"the model has no vector for {len(odd)} passages, which only words find: {named}"


def _write(shop: BuildTools, target: Generation, places: Sequence[PassagePlace], vectors: Iterable[Sequence[float]]) -> int:
    """Write the vectors of these passages to disk, and return their number."""
    shop.index.set_dense(target.name, zip((place.id for place in places), vectors, strict=True))
    shop.index.flush(target.name)
    return len(places)


def _note_written(shop: BuildTools, build: Build, writing: "Future[int] | None") -> Build:
    """Wait until the batch in `writing` is on disk, and note the progress."""
    return shop.note(build, done=build.done + writing.result()) if writing else build


def _is_complete(shop: BuildTools, live: Generation, encoder: str) -> bool:
    return live.dense and live.encoder == encoder and not shop.index.list_without_dense(live.name, 1)


def _open_target(shop: BuildTools, build: Build, live: Generation, encoder: PassageEncoder) -> Generation:
    """Return the index for this encoder's vectors: one that an earlier build began, or a copy of the live one."""
    name = f"{build.collection}.{build.number}.{encoder.name.replace('.', '_')}"
    begun = shop.catalogue.find_generation(build.generation)
    if begun is None or begun.name == live.name or begun.name not in shop.index.list_names() or begun.name.endswith(".words"):
        begun = live.model_copy(update={"name": shop.index.derive(live.name, name)})
    other = begun.encoder != encoder.name
    begun = begun.model_copy(update={"encoder": encoder.name, "dense": begun.dense and not other})
    if other:
        shop.index.begin_dense(begun.name, encoder.size)
    shop.catalogue.keep_generation(begun)
    return begun


def _pages_without_vectors(shop: BuildTools, target: Generation) -> Iterator[Sequence[PassagePlace]]:
    """Yield pages of passages without a vector, each sorted by document, so that a text is unpacked once."""
    last = -1
    while page := shop.index.list_without_dense(target.name, PAGE, last):
        last = page[-1].id
        yield sorted(page, key=lambda place: (place.document, place.start))


def _texts_of(shop: BuildTools, build: Build, places: Sequence[PassagePlace]) -> list[str]:
    texts = []
    for place in places:
        source = shop.store.source_of(build.collection, place.document)
        texts.append(index_text(source.title, shop.store.text_of(source.snapshot)[place.start : place.end]) if source else "")
    return texts
