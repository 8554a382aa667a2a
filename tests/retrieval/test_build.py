"""Building a collection: incremental, and resumable wherever it was cut off."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from retrieval.builder import run_build
from retrieval.catalogue import Build, BuildPhase, Collection, CorpusKind
from retrieval.home import Shelves, open_shelves
from retrieval.index.ports import Index
from retrieval.library import Library
from retrieval.ports import SearchFilter
from tests.retrieval.qdrant_stub import QdrantStub
from tests.retrieval.word_encoder import Cut, WordEncoder

Records = dict[str, str]


class Bench:
    """A home with one collection read from a JSONL file that the test rewrites."""

    def __init__(self, folder: Path, qdrant_url: str | None = None) -> None:
        self.file = folder / "corpus.jsonl"
        self.home = folder / "home"
        self.qdrant_url = qdrant_url
        self.shelves: Shelves = open_shelves(self.home, qdrant_url)
        self.shelves.catalogue.add(Collection(name="c", kind=CorpusKind.BEIR, path=str(self.file)), datetime.now(UTC))

    def write(self, records: Records) -> None:
        self.file.write_text("\n".join(json.dumps({"_id": key, "title": key, "text": text}) for key, text in records.items()))

    def build(
        self, encoder: WordEncoder | None = None, fresh: bool = True, report: Callable[[Build], None] = lambda _: None
    ) -> Build:
        return run_build(self.shelves, "c", fresh, lambda: encoder, report)

    def restart(self) -> None:
        """What a new process sees."""
        self.shelves.close()
        self.shelves = open_shelves(self.home, self.qdrant_url)

    def found(self, query: str, encoder: WordEncoder | None = None) -> list[str]:
        library = Library(self.shelves.catalogue, self.shelves.store, self.shelves.index, lambda: encoder)
        library.refresh("c")
        return [passage.source.title for passage in library.search(query, 10, SearchFilter(collections=("c",)))]

    def points(self) -> int:
        name = self.shelves.index.resolve("c")
        assert name is not None
        return self.shelves.index.count(name)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.shelves.close()


def records(count: int) -> Records:
    return {f"d{n}": f"Document number{n} tells of topic{n % 7} and of topic{n % 5} at some length." for n in range(count)}


def test_a_build_makes_words_searchable_first_and_vectors_later(bench: Bench) -> None:
    bench.write(records(30))
    seen: dict[BuildPhase, list[str]] = {}
    encoder = WordEncoder()

    def watch(build: Build) -> None:
        if build.phase not in seen and build.phase is not BuildPhase.READING and build.phase is not BuildPhase.INDEXING:
            seen[build.phase] = bench.found("number17", encoder)

    done = bench.build(encoder, report=watch)
    assert (done.phase, done.done, done.total) == (BuildPhase.DONE, 30, 30)
    assert seen[BuildPhase.ENCODING][0] == "d17"
    assert seen[BuildPhase.DONE][0] == "d17"
    generation = bench.shelves.catalogue.generation(bench.shelves.index.resolve("c") or "")
    assert generation is not None
    assert (generation.dense, generation.encoder) == (True, "words-of-tests")


def test_only_changed_documents_are_encoded_again(bench: Bench) -> None:
    texts = records(12)
    bench.write(texts)
    bench.build(WordEncoder())
    texts["d3"] = "Changed to speak of zeppelins."
    texts["new"] = "A newcomer about submarines."
    del texts["d5"]
    bench.write(texts)
    encoder = WordEncoder()
    assert bench.build(encoder).phase is BuildPhase.DONE
    assert sorted(encoder.encoded) == ["d3\nChanged to speak of zeppelins.", "new\nA newcomer about submarines."]
    assert bench.points() == 12
    assert bench.found("zeppelins", encoder)[0] == "d3"
    assert "d5" not in bench.found("number5", encoder)
    assert bench.shelves.store.by_url("beir:c/d5", ()) is None


def dense(bench: Bench) -> bool:
    name = bench.shelves.index.resolve("c") or ""
    generation = bench.shelves.catalogue.generation(name)
    assert generation is not None
    return generation.dense


def test_a_few_new_documents_are_encoded_before_the_switch_and_the_index_is_copied_once(bench: Bench) -> None:
    texts = records(100)
    bench.write(texts)
    bench.build(WordEncoder())
    bench.write(texts | {"new": "A newcomer about submarines."})
    live: set[tuple[str | None, bool]] = set()
    bench.build(WordEncoder(), report=lambda _: live.add((bench.shelves.index.resolve("c"), dense(bench))))
    assert {hybrid for _, hybrid in live} == {True}
    assert {name for name, _ in live} == {"c.1.words-of-tests", "c.2.words"}
    assert bench.found("submarines", WordEncoder())[0] == "new"


def test_search_stays_hybrid_while_much_is_added_and_finds_it_by_words_meanwhile(bench: Bench) -> None:
    texts = records(2_200)  # more than a page of passages to encode
    bench.write(texts)
    first = WordEncoder()
    bench.build(first)
    assert len(first.encoded) == len(set(first.encoded)) == 2_200
    bench.write(texts | {f"n{n}": f"Newcomer number{n} about submarines." for n in range(300)})
    seen: dict[BuildPhase, tuple[bool, list[str]]] = {}
    encoder = WordEncoder()

    def watch(build: Build) -> None:
        seen.setdefault(build.phase, (dense(bench), bench.found("newcomer number17 about submarines", encoder)))

    bench.build(encoder, report=watch)
    assert {hybrid for hybrid, _ in seen.values()} == {True}
    assert seen[BuildPhase.INDEXING][1][0].startswith("d")
    assert "n17" in seen[BuildPhase.ENCODING][1]
    assert seen[BuildPhase.DONE][1][0] == "n17"
    assert len(encoder.encoded) == 300


def test_an_encoder_that_is_away_leaves_what_is_new_to_words_until_it_is_back(bench: Bench) -> None:
    texts = records(50)
    bench.write(texts)
    bench.build(WordEncoder())
    bench.write(texts | {"new": "A newcomer about submarines."})
    bench.build(None)
    assert (dense(bench), bench.found("submarines")[0]) == (False, "new")
    encoder = WordEncoder()
    assert bench.build(encoder, fresh=False).phase is BuildPhase.DONE
    assert (dense(bench), len(encoder.encoded)) == (True, 1)


def test_an_unchanged_corpus_is_not_indexed_again(bench: Bench) -> None:
    bench.write(records(5))
    bench.build(WordEncoder())
    index = bench.shelves.index.resolve("c")
    encoder = WordEncoder()
    assert bench.build(encoder).phase is BuildPhase.DONE
    assert (bench.shelves.index.resolve("c"), encoder.encoded) == (index, [])


def test_another_encoder_replaces_the_vectors(bench: Bench) -> None:
    bench.write(records(6))
    bench.build(WordEncoder("one"))
    other = WordEncoder("two")
    bench.build(other, fresh=False)
    assert len(other.encoded) == 6
    assert bench.found("number4", other)[0] == "d4"


class MortalIndex:
    """An index in whose use the process dies: after call number `last` of anything that changes it."""

    def __init__(self, index: Index, last: int) -> None:
        self._index = index
        self._left = last

    def __getattr__(self, name: str) -> Callable[..., object]:
        method = getattr(self._index, name)

        def call(*arguments: object) -> object:
            result = method(*arguments)
            if name in ("create", "derive", "upsert", "set_dense", "delete_documents", "flush", "optimize", "switch"):
                self._left -= 1
                if self._left == 0:
                    raise Cut
            return result

        return call


# much is new: 1 derive, 2 delete, 3 upsert, 4 flush, 5 optimize, 6 switch to words, 7 derive, 8 and 10 vectors, 9 and 11 flush,
# 12 optimize, 13 switch; little is new: 1 derive, 2 delete, 3 upsert, 4 flush, 5 vectors, 6 flush, 7 optimize, 8 switch
@pytest.mark.parametrize(
    ("new", "calls"), [*((300, n) for n in (1, 2, 3, 4, 6, 7, 8, 9, 11, 13)), *((100, n) for n in (1, 2, 3, 4, 5, 6, 8))]
)
def test_a_build_that_dies_goes_on_where_it_was(bench: Bench, new: int, calls: int) -> None:
    texts = records(330)
    bench.write(texts)
    bench.build(WordEncoder())
    texts |= {f"d{n}": f"Rewritten number{n} speaks of zeppelins." for n in range(new)}
    del texts["d320"]
    bench.write(texts)
    mortal = MortalIndex(bench.shelves.index, calls)
    bench.shelves = replace(bench.shelves, index=cast("Index", mortal))
    with pytest.raises(Cut):
        bench.build(WordEncoder())
    bench.restart()
    assert bench.found("number321")[0] == "d321"  # what was searched goes on being searched
    encoder = WordEncoder()
    assert bench.build(encoder, fresh=False).phase is BuildPhase.DONE
    assert bench.points() == 329
    assert bench.found("number42", encoder)[0] == "d42"
    assert "d320" not in bench.found("number320", encoder)
    assert len(encoder.encoded) <= new


def test_a_reading_that_dies_is_done_again(bench: Bench) -> None:
    bench.write(records(150))

    def die(build: Build) -> None:
        if build.done == 128:
            raise Cut

    with pytest.raises(Cut):
        bench.build(WordEncoder(), report=die)
    bench.restart()
    assert bench.build(WordEncoder(), fresh=False).phase is BuildPhase.DONE
    assert (bench.points(), bench.shelves.store.count("c")) == (150, 150)


def test_a_reading_that_dies_goes_on_where_it_was_unless_the_corpus_has_changed(bench: Bench) -> None:
    class Dying:
        """Lets one batch be stored, then dies."""

        def __init__(self) -> None:
            self.first: int | None = None

        def __call__(self, build: Build) -> None:
            if build.phase is BuildPhase.READING and build.done:
                self.first = build.done
                raise Cut

    texts = records(400)
    bench.write(texts)
    for expected in (128, 256, 384):
        dying = Dying()
        with pytest.raises(Cut):
            bench.build(report=dying, fresh=False)
        assert dying.first == expected
        bench.restart()
    del texts["d7"]
    bench.write(texts)
    bench.build(fresh=False)
    assert (bench.points(), bench.shelves.store.count("c")) == (399, 399)
    assert bench.shelves.store.by_url("beir:c/d7", ()) is None


def test_vectors_encoded_before_a_death_are_kept(bench: Bench) -> None:
    bench.write(records(300))
    with pytest.raises(Cut):
        bench.build(WordEncoder(fails_at=270))
    bench.restart()
    assert bench.found("number299")[0] == "d299"
    second = WordEncoder()
    bench.build(second, fresh=False)
    assert len(second.encoded) == 300 - 256


def test_a_new_build_takes_over_half_done_vectors(bench: Bench) -> None:
    texts = records(300)
    bench.write(texts)
    with pytest.raises(Cut):
        bench.build(WordEncoder(fails_at=270))
    bench.restart()
    bench.write(texts | {"late": "A late addition about airships."})
    second = WordEncoder()
    bench.build(second, fresh=True)
    assert len(second.encoded) == 301 - 256
    assert bench.found("airships", second)[0] == "late"


def test_a_corpus_that_is_not_there_fails_with_the_reason_and_recovers(bench: Bench) -> None:
    failed = bench.build()
    assert failed.phase is BuildPhase.FAILED
    assert "corpus.jsonl" in failed.detail
    bench.write(records(3))
    assert bench.build(fresh=False).phase is BuildPhase.DONE
    assert bench.found("number2")[0] == "d2"


def test_damaged_lines_are_reported_and_skipped(bench: Bench) -> None:
    bench.write(records(3))
    with bench.file.open("a") as file:
        file.write('\nnot json\n{"_id": "x", "text": " "}\n[1]\n')
    bench.build()
    reasons = [entry.reason for entry in bench.shelves.catalogue.unreadable("c")]
    assert len(reasons) == 3
    assert bench.points() == 3


def test_without_an_encoder_words_still_work(bench: Bench) -> None:
    bench.write(records(4))
    done = bench.build(None)
    assert (done.phase, "words only" in done.detail) == (BuildPhase.DONE, True)
    assert bench.found("number1")[0] == "d1"


def test_an_empty_corpus_is_searchable_and_finds_nothing(bench: Bench) -> None:
    bench.write({})
    assert bench.build(WordEncoder()).phase is BuildPhase.DONE
    assert bench.found("anything", WordEncoder()) == []


def test_on_a_server_an_index_is_extended_in_place(tmp_path: Path) -> None:
    stub = QdrantStub(tmp_path / "qdrant")
    stub.start()
    bench = Bench(tmp_path, stub.url)
    texts = records(20)
    bench.write(texts)
    bench.build(WordEncoder())
    index = bench.shelves.index.resolve("c")
    texts |= {"d3": "Changed to speak of zeppelins.", "new": "A newcomer about submarines."}
    del texts["d5"]
    bench.write(texts)
    with pytest.raises(Cut):
        bench.build(WordEncoder(fails_at=1))
    bench.restart()
    encoder = WordEncoder()
    assert bench.build(encoder, fresh=False).phase is BuildPhase.DONE
    assert (bench.shelves.index.resolve("c"), bench.points(), len(encoder.encoded)) == (index, 20, 2)
    assert bench.found("zeppelins", encoder)[0] == "d3"
    assert "d5" not in bench.found("number5", encoder)
    bench.shelves.close()
    stub.stop()


@pytest.mark.parametrize("on_server", [False, True])
def test_passages_without_vectors_are_listed_page_by_page(tmp_path: Path, on_server: bool) -> None:
    stub = QdrantStub(tmp_path / "qdrant") if on_server else None
    if stub:
        stub.start()
    bench = Bench(tmp_path, stub.url if stub else None)
    bench.write(records(20))
    bench.build(None)
    name = bench.shelves.index.resolve("c") or ""
    numbers = [-1]
    while page := bench.shelves.index.without_dense(name, 6, numbers[-1]):
        assert len(page) <= 6
        numbers += [place.id for place in page]
    assert len(numbers) == 21
    assert numbers == sorted(numbers)
    bench.shelves.close()
    if stub:
        stub.stop()


def test_on_a_server_a_build_that_was_given_up_leaves_nothing_behind(tmp_path: Path) -> None:
    stub = QdrantStub(tmp_path / "qdrant")
    stub.start()
    bench = Bench(tmp_path, stub.url)
    texts = records(20)
    bench.write(texts)
    bench.build(WordEncoder())
    bench.write({key: text for key, text in texts.items() if key != "d5"} | {"fleeting": "Seen once, about submarines."})
    mortal = MortalIndex(bench.shelves.index, 4)  # the searched index has been changed in place: d5 out, fleeting in
    bench.shelves = replace(bench.shelves, index=cast("Index", mortal))
    with pytest.raises(Cut):
        bench.build(WordEncoder())
    bench.restart()
    bench.write(texts)
    assert bench.build(WordEncoder()).phase is BuildPhase.DONE
    assert bench.points() == bench.shelves.store.count("c") == 20
    assert bench.found("number5", WordEncoder())[0] == "d5"
    bench.shelves.close()
    stub.stop()
