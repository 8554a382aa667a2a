"""`rubrica data`: a set from a home's own corpus, made by one command."""

import json
from pathlib import Path

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
    assert "graph-queries" in done.stdout


def test_what_is_missing_is_said(home: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (("riddles",), "there is no kind of set 'riddles'"),
        (("graph-queries",), "needs a --corpus"),
        (("graph-queries", "--corpus", "attic"), "there is no collection 'attic'"),
        (("graph-queries", "--corpus", "ports", "--option", "fast"), "write NAME=VALUE"),
        (("report-data", "--corpus", "ports", "--option", "audit=here"), "report-data has no option 'audit'; it has none"),
    ):
        refused = run_rubrica(home, "data", "make", *arguments, "--out", str(tmp_path / "none"))
        assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr
