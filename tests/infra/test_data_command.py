"""`rubrica data`: a set from a home's own corpus, made by one command."""

import json
from pathlib import Path

import orjson
import pytest

from retrieval.search.in_process import open_local
from retrieval.store.catalogue import Collection, CorpusKind
from tests.support.stack import run_rubrica

TEXT = (
    "In {year} the harbour of Port {name} was deepened by four metres. Its council, led by Mayor {name}, had asked for it since "
    "{before}. Some ships may still wait outside at low tide. The work cost two million dollars because the rock was hard. "
    "Most of the money came from the state. The tower of {name} was built before the bridge over the river {name} was opened."
)
NAMES = ("Ashford", "Brindle", "Corwen", "Dunmore", "Elsmere", "Farley", "Garston", "Hadley")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one collection of eight articles, indexed by words."""
    folder = tmp_path_factory.mktemp("data")
    rows = [
        {"id": name, "title": f"Port {name}", "text": TEXT.format(name=name, year=1900 + n, before=1890 + n)}
        for n, name in enumerate(NAMES)
    ]
    (folder / "ports.jsonl").write_text("\n".join(map(json.dumps, rows)))
    open_local(folder / "home", Collection(name="ports", kind=CorpusKind.RECORDS, path=str(folder / "ports.jsonl"))).close()
    return folder / "home"


def test_the_kinds_are_listed(tmp_path: Path) -> None:
    done = run_rubrica(tmp_path / "home", "data", "kinds")
    assert done.returncode == 0, done.stderr
    assert "claim-support" in done.stdout


def test_a_set_of_claims_is_made_and_made_again(home: Path, tmp_path: Path) -> None:
    arguments = ("data", "make", "claim-support", "--corpus", "ports", "--rows", "20", "--out", str(tmp_path / "claims"))
    done = run_rubrica(home, *arguments)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "claims/report.html") in done.stdout
    rows = [orjson.loads(line) for file in tmp_path.glob("claims/*/rows.jsonl") for line in file.read_bytes().splitlines()]
    assert rows
    assert {row["right"] for row in rows} == {True, False}
    assert all(row["evidence"] and row["claim"] for row in rows)
    before = (tmp_path / "claims/manifest.json").read_bytes()
    assert run_rubrica(home, *arguments).returncode == 0
    assert (tmp_path / "claims/manifest.json").read_bytes() == before


def test_labelled_pairs_are_read_and_what_is_missing_is_said(home: Path, tmp_path: Path) -> None:
    pair = {"title": "Ports", "evidence": "The port is deep.", "claim": "Ships of all sizes enter.", "kind": "", "right": False}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair))
    done = run_rubrica(
        home, "data", "make", "claim-support", "--input", str(tmp_path / "pairs.jsonl"), "--out", str(tmp_path / "s")
    )
    assert done.returncode == 0, done.stderr
    assert orjson.loads((tmp_path / "s/train/rows.jsonl").read_bytes())["claim"] == pair["claim"]
    for arguments, message in (
        (("riddles",), "there is no kind of set 'riddles'"),
        (("claim-support",), "needs a --corpus"),
        (("claim-support", "--corpus", "attic"), "there is no collection 'attic'"),
        (("claim-support", "--corpus", "ports", "--option", "fast"), "write NAME=VALUE"),
        (("claim-support", "--corpus", "ports", "--option", "audit=here"), "claim-support has no option 'audit'; it has none"),
    ):
        refused = run_rubrica(home, "data", "make", *arguments, "--out", str(tmp_path / "none"))
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
