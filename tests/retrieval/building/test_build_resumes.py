"""A build that was cut off goes on where it was."""

from dataclasses import replace
from typing import cast

import pytest

from retrieval.index.ports import Index
from retrieval.store.catalogue import Build, BuildPhase
from tests.retrieval.rebuildable_home import MortalIndex, RebuildableHome, make_records
from tests.retrieval.word_encoder import SimulatedDeath, WordEncoder


@pytest.mark.parametrize(
    ("new", "calls"), [*((300, n) for n in (1, 2, 3, 4, 6, 7, 8, 9, 11, 13)), *((100, n) for n in (1, 2, 3, 4, 5, 6, 8))]
)
def test_a_build_that_dies_goes_on_where_it_was(bench: RebuildableHome, new: int, calls: int) -> None:
    texts = make_records(330)
    bench.write(texts)
    bench.build(WordEncoder())
    texts |= {f"d{n}": f"Rewritten number{n} speaks of zeppelins." for n in range(new)}
    del texts["d320"]
    bench.write(texts)
    mortal = MortalIndex(bench.shelves.index, calls)
    bench.shelves = replace(bench.shelves, index=cast("Index", mortal))
    with pytest.raises(SimulatedDeath):
        bench.build(WordEncoder())
    bench.restart()
    assert bench.find_titles("number321")[0] == "d321"  # what was searched goes on being searched
    encoder = WordEncoder()
    assert bench.build(encoder, fresh=False).phase is BuildPhase.DONE
    assert bench.count_points() == 329
    assert bench.find_titles("number42", encoder)[0] == "d42"
    assert "d320" not in bench.find_titles("number320", encoder)
    assert len(encoder.encoded) <= new


def test_a_reading_that_dies_is_done_again(bench: RebuildableHome) -> None:
    bench.write(make_records(150))

    def die(build: Build) -> None:
        if build.done == 128:
            raise SimulatedDeath

    with pytest.raises(SimulatedDeath):
        bench.build(WordEncoder(), report=die)
    bench.restart()
    assert bench.build(WordEncoder(), fresh=False).phase is BuildPhase.DONE
    assert (bench.count_points(), bench.shelves.store.count("c")) == (150, 150)


def test_a_reading_that_dies_goes_on_where_it_was_unless_the_corpus_has_changed(bench: RebuildableHome) -> None:
    class Dying:
        """Lets one batch be stored, then dies."""

        def __init__(self) -> None:
            self.first: int | None = None

        def __call__(self, build: Build) -> None:
            if build.phase is BuildPhase.READING and build.done:
                self.first = build.done
                raise SimulatedDeath

    texts = make_records(400)
    bench.write(texts)
    for expected in (128, 256, 384):
        dying = Dying()
        with pytest.raises(SimulatedDeath):
            bench.build(report=dying, fresh=False)
        assert dying.first == expected
        bench.restart()
    del texts["d7"]
    bench.write(texts)
    bench.build(fresh=False)
    assert (bench.count_points(), bench.shelves.store.count("c")) == (399, 399)
    assert bench.shelves.store.find_by_url("beir:c/d7", ()) is None


def test_vectors_encoded_before_a_death_are_kept(bench: RebuildableHome) -> None:
    bench.write(make_records(300))
    with pytest.raises(SimulatedDeath):
        bench.build(WordEncoder(fails_at=270))
    bench.restart()
    assert bench.find_titles("number299")[0] == "d299"
    second = WordEncoder()
    bench.build(second, fresh=False)
    assert len(second.encoded) == 300 - 256


@pytest.mark.parametrize("interrupted", [1, 2])
def test_a_new_build_of_an_unchanged_corpus_takes_over_half_done_vectors(bench: RebuildableHome, interrupted: int) -> None:
    bench.write(make_records(600))
    encoded = 0
    for _ in range(interrupted):
        encoder = WordEncoder(fails_at=270)
        with pytest.raises(SimulatedDeath):
            bench.build(encoder)
        bench.restart()
        assert bench.find_titles("number42")[0] == "d42"
        encoded += 256
    last = WordEncoder()
    assert bench.build(last).phase is BuildPhase.DONE
    assert len(last.encoded) == 600 - encoded
    assert bench.find_titles("number42", last)[0] == "d42"


def test_a_new_build_takes_over_half_done_vectors(bench: RebuildableHome) -> None:
    texts = make_records(300)
    bench.write(texts)
    with pytest.raises(SimulatedDeath):
        bench.build(WordEncoder(fails_at=270))
    bench.restart()
    bench.write(texts | {"late": "A late addition about airships."})
    second = WordEncoder()
    bench.build(second, fresh=True)
    assert len(second.encoded) == 301 - 256
    assert bench.find_titles("airships", second)[0] == "late"
