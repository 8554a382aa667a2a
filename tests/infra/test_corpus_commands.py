"""`rubrica corpus` against a running retrieval service."""

import json
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from infra.cli.build_progress import BuildProgress, explain_first_index, explain_words_only, format_duration
from tests.retrieval.service.owner_process import OwnerProcess
from tests.support.stack import run_rubrica


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerProcess]:
    started = OwnerProcess(tmp_path_factory.mktemp("corpus") / "home")
    yield started
    started.clean()


def corpus(owner: OwnerProcess, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """`rubrica corpus ...`; the API is elsewhere and is not asked."""
    settings = {"RUBRICA_API_URL": "http://127.0.0.1:9", "RUBRICA_RETRIEVAL_URL": f"unix:{owner.socket}"}
    return run_rubrica(owner.home, "corpus", *arguments, **settings)


def verified_once_built(owner: OwnerProcess, name: str) -> "subprocess.CompletedProcess[str]":
    """The command that added it returns when the last step is told, a moment before the service has put the build away."""
    while "is being built" in (done := corpus(owner, "verify", name)).stderr:
        time.sleep(0.2)
    return done


def test_a_corpus_is_added_described_verified_changed_and_dropped(owner: OwnerProcess, tmp_path: Path) -> None:
    path = tmp_path / "articles.jsonl"
    records = [{"id": str(n), "title": f"Article {n}", "text": f"Article number {n} tells of canals."} for n in range(20)]
    path.write_text("\n".join(map(json.dumps, records)) + "\nnot json\n")
    added = corpus(owner, "add", str(path), "--name", "canals", "--kind", "records", "--licence", "CC BY-SA 3.0")
    assert added.returncode == 0, added.stderr
    assert "canals: reading" in added.stderr
    assert "skipped: articles.jsonl:21 - is not JSON" in added.stderr
    assert added.stdout.split()[:5] == ["canals", "20", "documents", "20", "passages"]
    stats = corpus(owner, "stats", "canals").stdout
    assert "CC BY-SA 3.0 20" in stats
    assert "en 20" in stats
    verified = verified_once_built(owner, "canals")
    assert (verified.returncode, "20 documents, 20 passages, 20 points" in verified.stdout) == (0, True)
    path.write_text("\n".join(map(json.dumps, records[:15])))
    assert "15 documents" in " ".join(corpus(owner, "build", "canals").stdout.split())
    assert "CC BY-SA 3.0 15" in corpus(owner, "stats", "canals").stdout
    with sqlite3.connect(owner.home / "retrieval" / "store.db") as store:
        store.execute("UPDATE documents SET snapshot = snapshot, source = replace(source, 'Article 3', 'Article X')")
    harmed = verified_once_built(owner, "canals")
    assert (harmed.returncode, "faults: 1" in harmed.stdout) == (1, True)
    assert corpus(owner, "drop", "canals").returncode != 0  # nobody said yes
    assert corpus(owner, "drop", "canals", "--yes").returncode == 0
    assert "canals" not in corpus(owner, "list").stdout


def test_a_new_command_is_a_new_try_after_a_build_that_failed(owner: OwnerProcess, tmp_path: Path) -> None:
    failed = corpus(owner, "add", str(tmp_path), "--name", "locks", "--kind", "beir")
    assert "locks could not be indexed" in failed.stderr
    owner.stop()  # as a command's own stack ends with it
    (tmp_path / "corpus.jsonl").write_text('{"_id": "1", "title": "Locks", "text": "The lock lifts a barge by nine feet."}')
    owner.start()
    again = corpus(owner, "build", "locks")
    assert (again.returncode, "could not be indexed" in again.stderr) == (0, False), again.stderr
    assert again.stdout.split()[:3] == ["locks", "1", "documents"]


def test_what_cannot_be_done_is_said(owner: OwnerProcess, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Text.")
    assert "is no kind of corpus; there are" in corpus(owner, "add", str(tmp_path), "--kind", "stone").stderr
    assert "there is no file at" in corpus(owner, "add", str(tmp_path), "--name", "dump", "--kind", "wikipedia").stderr
    assert corpus(owner, "verify", "nowhere").returncode == 2
    corpus(owner, "drop", "dump", "--yes")


def test_progress_tells_phases_at_once_and_rates_now_and_then() -> None:
    now, told = [0.0], list[str]()
    progress = BuildProgress("wiki", told.append, lambda: now[0])
    reading = {"phase": "reading", "done": 1_000, "total": 0, "per_second": None, "seconds_left": None}
    progress(reading)
    progress(reading)
    now[0] = 6.0
    progress(reading | {"done": 12_000, "total": 40_000, "per_second": 2_000.0, "seconds_left": 14.0})
    progress({"phase": "encoding", "done": 0, "total": 9, "per_second": None, "seconds_left": None})
    progress({"phase": "done", "done": 9, "total": 9})
    assert told == [
        "wiki: reading",
        "wiki: reading 12,000 of about 40,000 documents, 2,000.0/s, about 14 s left",
        "wiki: encoding, can be searched meanwhile",
    ]


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "0 s"), (61, "1 min 1 s"), (3_600, "1 h"), (7_500, "2 h 5 min"), (90_000, "1 d 1 h")]
)
def test_lengths_of_time_are_said_in_two_units(seconds: float, said: str) -> None:
    assert format_duration(timedelta(seconds=seconds)) == said


def test_whoever_asks_first_hears_what_the_estimate_of_the_run_leaves_out() -> None:
    assert explain_first_index("sotu", is_default=True) == "sotu is indexed first, once: that takes 5 to 30 s more"
    told = explain_first_index("wiki", is_default=False)
    assert told.startswith("wiki is indexed first, once: how long is not known yet, `")
    assert told.endswith(" corpus list` tells how far it is")


def test_whoever_only_asks_hears_what_would_make_vectors() -> None:
    told = explain_words_only("wiki", {"done": 1_280, "total": 14_949})
    assert "wiki is searched by its words alone so far (1,280 of 14,949 passages encoded)" in told
    assert "corpus build wiki`" in told
    assert "(" not in explain_words_only("wiki", {"done": 0, "total": 0})
