"""Building a collection: what is searchable when, and what is done again."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import cast

import pytest

from app.domain.errors import Conflict
from retrieval.index.ports import Index
from retrieval.search.library import Library
from retrieval.service.owner import IndexOwner
from retrieval.store.catalogue import Build, BuildPhase
from tests.retrieval.index.qdrant_stub import QdrantStub
from tests.retrieval.rebuildable_home import MortalIndex, RebuildableHome, make_records
from tests.retrieval.word_encoder import SimulatedDeath, WordEncoder


def test_a_build_makes_words_searchable_first_and_vectors_later(bench: RebuildableHome) -> None:
    bench.write(make_records(30))
    seen: dict[BuildPhase, list[str]] = {}
    encoder = WordEncoder()

    def watch(build: Build) -> None:
        if build.phase not in seen and build.phase is not BuildPhase.READING and build.phase is not BuildPhase.INDEXING:
            seen[build.phase] = bench.find_titles("number17", encoder)

    done = bench.build(encoder, report=watch)
    assert (done.phase, done.done, done.total) == (BuildPhase.DONE, 30, 30)
    assert seen[BuildPhase.ENCODING][0] == "d17"
    assert seen[BuildPhase.DONE][0] == "d17"
    generation = bench.shelves.catalogue.find_generation(bench.shelves.index.resolve("c") or "")
    assert generation is not None
    assert (generation.dense, generation.encoder) == (True, "words-of-tests")


def test_only_changed_documents_are_encoded_again(bench: RebuildableHome) -> None:
    texts = make_records(12)
    bench.write(texts)
    bench.build(WordEncoder())
    texts["d3"] = "Changed to speak of zeppelins."
    texts["new"] = "A newcomer about submarines."
    del texts["d5"]
    bench.write(texts)
    encoder = WordEncoder()
    assert bench.build(encoder).phase is BuildPhase.DONE
    assert sorted(encoder.encoded) == ["d3\nChanged to speak of zeppelins.", "new\nA newcomer about submarines."]
    assert bench.count_points() == 12
    assert bench.find_titles("zeppelins", encoder)[0] == "d3"
    assert "d5" not in bench.find_titles("number5", encoder)
    assert bench.shelves.store.find_by_url("beir:c/d5", ()) is None


def dense(bench: RebuildableHome) -> bool:
    name = bench.shelves.index.resolve("c") or ""
    generation = bench.shelves.catalogue.find_generation(name)
    assert generation is not None
    return generation.dense


def test_a_few_new_documents_are_encoded_before_the_switch_and_the_index_is_copied_once(bench: RebuildableHome) -> None:
    texts = make_records(100)
    bench.write(texts)
    bench.build(WordEncoder())
    bench.write(texts | {"new": "A newcomer about submarines."})
    live: set[tuple[str | None, bool]] = set()
    bench.build(WordEncoder(), report=lambda _: live.add((bench.shelves.index.resolve("c"), dense(bench))))
    assert {hybrid for _, hybrid in live} == {True}
    assert {name for name, _ in live} == {"c.1.words-of-tests", "c.2.words"}
    assert bench.find_titles("submarines", WordEncoder())[0] == "new"


def test_search_stays_hybrid_while_much_is_added_and_finds_it_by_words_meanwhile(bench: RebuildableHome) -> None:
    texts = make_records(2_200)  # more than a page of passages to encode
    bench.write(texts)
    first = WordEncoder()
    bench.build(first)
    assert len(first.encoded) == len(set(first.encoded)) == 2_200
    bench.write(texts | {f"n{n}": f"Newcomer number{n} about submarines." for n in range(300)})
    seen: dict[BuildPhase, tuple[bool, list[str]]] = {}
    encoder = WordEncoder()

    def watch(build: Build) -> None:
        seen.setdefault(build.phase, (dense(bench), bench.find_titles("newcomer number17 about submarines", encoder)))

    bench.build(encoder, report=watch)
    assert {hybrid for hybrid, _ in seen.values()} == {True}
    assert seen[BuildPhase.INDEXING][1][0].startswith("d")
    assert "n17" in seen[BuildPhase.ENCODING][1]
    assert seen[BuildPhase.DONE][1][0] == "n17"
    assert len(encoder.encoded) == 300


def test_an_encoder_that_is_away_leaves_what_is_new_to_words_until_it_is_back(bench: RebuildableHome) -> None:
    texts = make_records(50)
    bench.write(texts)
    bench.build(WordEncoder())
    bench.write(texts | {"new": "A newcomer about submarines."})
    bench.build(None)
    assert (dense(bench), bench.find_titles("submarines")[0]) == (False, "new")
    encoder = WordEncoder()
    assert bench.build(encoder, fresh=False).phase is BuildPhase.DONE
    assert (dense(bench), len(encoder.encoded)) == (True, 1)


def test_an_unchanged_corpus_is_not_indexed_again(bench: RebuildableHome) -> None:
    bench.write(make_records(5))
    bench.build(WordEncoder())
    index = bench.shelves.index.resolve("c")
    encoder = WordEncoder()
    assert bench.build(encoder).phase is BuildPhase.DONE
    assert (bench.shelves.index.resolve("c"), encoder.encoded) == (index, [])


def test_another_encoder_replaces_the_vectors(bench: RebuildableHome) -> None:
    bench.write(make_records(6))
    bench.build(WordEncoder("one"))
    other = WordEncoder("two")
    bench.build(other, fresh=False)
    assert len(other.encoded) == 6
    assert bench.find_titles("number4", other)[0] == "d4"


def test_a_corpus_that_is_not_there_fails_with_the_reason_and_recovers(bench: RebuildableHome) -> None:
    failed = bench.build()
    assert failed.phase is BuildPhase.FAILED
    assert "corpus.jsonl" in failed.detail
    bench.write(make_records(3))
    assert bench.build(fresh=False).phase is BuildPhase.DONE
    assert bench.find_titles("number2")[0] == "d2"


def test_a_full_disk_fails_the_build_with_the_reason_and_it_goes_on_when_there_is_room(bench: RebuildableHome) -> None:
    connection = bench.shelves.database.connect()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count={pages}")
    bench.write(make_records(3) | {"long": " ".join(sha256(bytes(n)).hexdigest() for n in range(3_000))})
    failed = bench.build()
    assert failed.phase is BuildPhase.FAILED
    assert "disk is full" in failed.detail
    assert bench.shelves.catalogue.find_build("c") == failed
    connection.execute(f"PRAGMA max_page_count={pages * 1_000}")
    assert bench.build(fresh=False).phase is BuildPhase.DONE
    assert bench.find_titles("number2")[0] == "d2"


def test_damaged_lines_are_reported_and_skipped(bench: RebuildableHome) -> None:
    bench.write(make_records(3))
    with bench.file.open("a") as file:
        file.write('\nnot json\n{"_id": "x", "text": " "}\n[1]\n')
    bench.build()
    reasons = [entry.reason for entry in bench.shelves.catalogue.list_unreadable("c")]
    assert len(reasons) == 3
    assert bench.count_points() == 3


def test_without_an_encoder_words_still_work(bench: RebuildableHome) -> None:
    bench.write(make_records(4))
    done = bench.build(None)
    assert (done.phase, "words only" in done.detail) == (BuildPhase.DONE, True)
    assert bench.find_titles("number1")[0] == "d1"


def test_an_empty_corpus_is_searchable_and_finds_nothing(bench: RebuildableHome) -> None:
    bench.write({})
    assert bench.build(WordEncoder()).phase is BuildPhase.DONE
    assert bench.find_titles("anything", WordEncoder()) == []


def test_a_collection_that_was_empty_at_first_ranks_like_any_other(bench: RebuildableHome) -> None:
    bench.write({})
    bench.build()
    passage = (
        "The tariff of 1890 raised duties on wool. " + "Many farmers in the western states paid dearly for the tariff. " * 14
    )
    bench.write({"stub": "Tariff.", "passage": passage} | {f"other{n}": "Ships paid tolls in gold. " * 40 for n in range(8)})
    bench.build()
    assert bench.find_titles("tariff") == ["passage", "stub"]
    catalogue, name = bench.shelves.catalogue, bench.shelves.index.resolve("c")
    assert name is not None
    known = catalogue.find_generation(name)
    assert known is not None
    catalogue.keep_generation(known.model_copy(update={"average_length": 0.0}))  # as an older version left it
    bench.build()
    assert bench.shelves.index.resolve("c") != name, "a build mends it"


def test_an_empty_index_is_kept_while_the_first_documents_are_added_to_it(bench: RebuildableHome) -> None:
    bench.write({})
    bench.build()
    library = Library(bench.shelves.catalogue, bench.shelves.store, bench.shelves.index, lambda: None)
    kept: list[bool] = []

    def refresh(_: Build) -> None:  # as the index owner does meanwhile
        library.refresh("c")
        kept.append(library.is_ready("c"))

    bench.write(make_records(1))
    assert bench.build(report=refresh).phase is BuildPhase.DONE
    assert kept
    assert all(kept)  # the builder copies it
    assert bench.find_titles("number0") == ["d0"]


def test_on_a_server_an_index_is_extended_in_place(tmp_path: Path) -> None:
    stub = QdrantStub(tmp_path / "qdrant")
    stub.start()
    bench = RebuildableHome(tmp_path, stub.url)
    texts = make_records(20)
    bench.write(texts)
    bench.build(WordEncoder())
    index = bench.shelves.index.resolve("c")
    texts |= {"d3": "Changed to speak of zeppelins.", "new": "A newcomer about submarines."}
    del texts["d5"]
    bench.write(texts)
    with pytest.raises(SimulatedDeath):
        bench.build(WordEncoder(fails_at=1))
    bench.restart()
    encoder = WordEncoder()
    assert bench.build(encoder, fresh=False).phase is BuildPhase.DONE
    assert (bench.shelves.index.resolve("c"), bench.count_points(), len(encoder.encoded)) == (index, 20, 2)
    assert bench.find_titles("zeppelins", encoder)[0] == "d3"
    assert "d5" not in bench.find_titles("number5", encoder)
    bench.shelves.close()
    stub.stop()


@pytest.mark.parametrize("on_server", [False, True])
def test_passages_without_vectors_are_listed_page_by_page(tmp_path: Path, on_server: bool) -> None:
    stub = QdrantStub(tmp_path / "qdrant") if on_server else None
    if stub:
        stub.start()
    bench = RebuildableHome(tmp_path, stub.url if stub else None)
    bench.write(make_records(20))
    bench.build(None)
    name = bench.shelves.index.resolve("c") or ""
    numbers = [-1]
    while page := bench.shelves.index.list_without_dense(name, 6, numbers[-1]):
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
    bench = RebuildableHome(tmp_path, stub.url)
    texts = make_records(20)
    bench.write(texts)
    bench.build(WordEncoder())
    bench.write({key: text for key, text in texts.items() if key != "d5"} | {"fleeting": "Seen once, about submarines."})
    mortal = MortalIndex(bench.shelves.index, 4)  # the searched index has been changed in place: d5 out, fleeting in
    bench.shelves = replace(bench.shelves, index=cast("Index", mortal))
    with pytest.raises(SimulatedDeath):
        bench.build(WordEncoder())
    bench.restart()
    bench.write(texts)
    assert bench.build(WordEncoder()).phase is BuildPhase.DONE
    assert bench.count_points() == bench.shelves.store.count("c") == 20
    assert bench.find_titles("number5", WordEncoder())[0] == "d5"
    bench.shelves.close()
    stub.stop()


async def test_two_homes_share_a_server_by_different_prefixes_and_are_refused_without(tmp_path: Path) -> None:
    stub = QdrantStub(tmp_path / "qdrant")
    stub.start()
    benches = []
    for name, prefix in (("one", None), ("two", "two"), ("three", None)):
        (tmp_path / name).mkdir()
        benches.append(RebuildableHome(tmp_path / name, stub.url, prefix))
    one, two, three = benches
    one.write(make_records(3))
    one.build()
    two.write({"other": "Quite another document."})
    two.build()
    assert (one.count_points(), two.count_points()) == (3, 1)
    shelves = three.shelves
    library = Library(shelves.catalogue, shelves.store, shelves.index, lambda: None)
    with pytest.raises(Conflict, match="set RUBRICA_QDRANT_PREFIX"):
        await IndexOwner(shelves, library, []).open()
    assert one.find_titles("number2")[0] == "d2"
    for bench in benches:
        bench.shelves.close()
    stub.stop()
