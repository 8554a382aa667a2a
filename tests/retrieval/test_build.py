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


# 1 derive, 2 delete, 3 upsert, 4 flush, 5 optimize, 6 switch to words, 7 derive, 8 vectors, 9 flush, 10 optimize, 11 switch
@pytest.mark.parametrize("calls", [1, 2, 3, 4, 6, 7, 8, 9, 11])
def test_a_build_that_dies_goes_on_where_it_was(bench: Bench, calls: int) -> None:
    texts = records(130)
    bench.write(texts)
    bench.build(WordEncoder())
    texts |= {f"d{n}": f"Rewritten number{n} speaks of zeppelins." for n in range(100)}
    del texts["d120"]
    bench.write(texts)
    mortal = MortalIndex(bench.shelves.index, calls)
    bench.shelves = replace(bench.shelves, index=cast("Index", mortal))
    with pytest.raises(Cut):
        bench.build(WordEncoder())
    bench.restart()
    assert bench.found("number121")[0] == "d121"  # what was searched goes on being searched
    encoder = WordEncoder()
    assert bench.build(encoder, fresh=False).phase is BuildPhase.DONE
    assert bench.points() == 129
    assert bench.found("number42", encoder)[0] == "d42"
    assert "d120" not in bench.found("number120", encoder)
    assert len(encoder.encoded) <= 100


def test_a_reading_that_dies_is_done_again(bench: Bench) -> None:
    bench.write(records(150))

    def die(build: Build) -> None:
        if build.done == 96:
            raise Cut

    with pytest.raises(Cut):
        bench.build(WordEncoder(), report=die)
    bench.restart()
    assert bench.build(WordEncoder(), fresh=False).phase is BuildPhase.DONE
    assert (bench.points(), bench.shelves.store.count("c")) == (150, 150)


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
