"""kill -9 of a builder at random moments: in the end the collection is what an uninterrupted build makes of it."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from retrieval.building.build import begin_build
from retrieval.index.ports import HybridQuery
from retrieval.index.sparse import SparseEncoder
from retrieval.store.catalogue import Collection, CorpusKind
from retrieval.store.home import open_retrieval_home
from retrieval.store.verification import CollectionVerification, verify_collection
from tests.retrieval.word_encoder import WordEncoder

BUILDER = Path(__file__).with_name("mortal_builder.py")
ROOT = Path(__file__).parents[3]
QUERIES = ("number17 topic3", "zeppelins number4", "topic5 harbour", "river number900")
KILLS = 5
RARITY_OFF = 0.25
"""Points that a kill left behind twice count into the rarity of words until their segment is rewritten, from 5 in 100 on.

Here these are up to 100 of 2,000, and all may have one of the words that 150 have: ln(2000/150) becomes ln(2100/250).
"""


class Contents(NamedTuple):
    """What a collection answers: the scores of each query's hits, by id."""

    verified: CollectionVerification
    by_words: list[dict[int, float]]
    by_meaning: list[dict[int, float]]


class Home:
    """A collection of records in a home of its own, and the builder process that works on it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.home, self.corpus = folder / "home", folder / "corpus.jsonl"
        shelves = open_retrieval_home(self.home)
        shelves.catalogue.add(Collection(name="c", kind=CorpusKind.BEIR, path=str(self.corpus)), datetime.now(UTC))
        shelves.close()

    def begin(self, records: Mapping[str, str]) -> None:
        """A new build of these records."""
        self.corpus.write_text("\n".join(json.dumps({"_id": key, "title": key, "text": text}) for key, text in records.items()))
        shelves = open_retrieval_home(self.home)
        begin_build(shelves.catalogue, "c", datetime.now(UTC))
        shelves.close()

    def start(self) -> "subprocess.Popen[str]":
        """The builder, started and at its first step."""
        command = [sys.executable, str(BUILDER), str(self.home), "c"]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        builder = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        assert builder.stdout is not None
        builder.stdout.readline()
        return builder

    def finish(self) -> float:
        """Let the builder come to its end; how long it took in seconds."""
        builder = self.start()
        started = time.monotonic()
        out, _ = builder.communicate()
        assert builder.returncode == 0, out
        return time.monotonic() - started

    def contents(self) -> "Contents":
        """All that can be asked of the collection."""
        shelves = open_retrieval_home(self.home)
        name = shelves.index.resolve("c") or ""
        answers = [
            shelves.index.query(
                name, HybridQuery(SparseEncoder(1.0).weigh_query(query), WordEncoder().encode_query(query), 1_000)
            )
            for query in QUERIES
        ]
        found = verify_collection(shelves, "c")
        shelves.close()
        by_words, by_meaning = ([dict(half) for half in halves] for halves in zip(*answers, strict=True))
        return Contents(found, by_words, by_meaning)


def records(count: int) -> dict[str, str]:
    texts = {}
    for n in range(count):
        paragraphs = [f"Part {p} of number{n} tells of topic{(n + p) % 7} by the river, at some length. " * 8 for p in range(2)]
        texts[f"d{n}"] = "\n\n".join(paragraphs)
    return texts


def changed(texts: Mapping[str, str]) -> dict[str, str]:
    kept = {key: text for key, text in texts.items() if not key.endswith("7")}
    return kept | {f"d{n}": f"Rewritten number{n} speaks of zeppelins over the harbour." for n in range(0, 900, 3)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_random_moments_change_nothing(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole, cut = Home(tmp_path / "whole"), Home(tmp_path / "cut")
    first = records(900)
    for texts in (first, changed(first)):
        whole.begin(texts)
        takes = whole.finish()
        cut.begin(texts)
        for _ in range(KILLS):
            builder = cut.start()
            time.sleep(chance.uniform(0, takes / 2))
            builder.send_signal(signal.SIGKILL)
            builder.communicate()
        cut.finish()
        expected = whole.contents()
        assert expected.verified.problems == 0
        found = cut.contents()
        assert found.verified == expected.verified
        for answers, wanted, off in (
            (found.by_words, expected.by_words, RARITY_OFF),
            (found.by_meaning, expected.by_meaning, 1e-4),
        ):
            for answer, due in zip(answers, wanted, strict=True):
                assert answer.keys() == due.keys()
                assert list(answer.values()) == pytest.approx([due[number] for number in answer], rel=off, abs=1e-4)
