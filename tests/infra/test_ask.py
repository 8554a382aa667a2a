"""From a question to a cited report through the command line, on the real local stack and without a model."""

import json
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.stack import run_rubrica

QUESTION = "How did presidents justify tariffs before 1900?"
NOTES = {
    "pricing.md": "# Pricing\n\nIn March 2024 the team decided that the subscription costs 10 dollars a month. "
    "The decision on pricing was unanimous, because customers had asked for one simple price.\n",
    "old/plan.html": "<html><body><article><h1>Plan</h1><p>In 2023 the pricing of the subscription was still open, and two "
    "proposals were compared by the team in some detail.</p></article></body></html>",
    "broken.pdf": "%PDF-1.7 this is not a document",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with a space in its path, and a user's notes in it."""
    folder = tmp_path_factory.mktemp("a user")
    for name, text in NOTES.items():
        path = folder / "my notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def ask(folder: Path, *arguments: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    done = run_rubrica(folder / "home", "ask", *arguments, folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    report = folder / done.stdout.splitlines()[-1]
    evidence: dict[str, Any] = json.loads((report.parent / "evidence.json").read_text())
    for citation in evidence["citations"]:
        text = (report.parent / "sources" / f"{citation['source']['snapshot']}.txt").read_bytes().decode()
        assert text[citation["start"] : citation["end"]] == citation["quote"]
        assert f"[{citation['n']}]" in report.read_text()
    assert "</html>" in (report.parent / "report.html").read_text()
    return done, evidence


def test_a_question_on_the_default_corpus(folder: Path) -> None:
    chosen = (
        "--length",
        "medium",
        "--format",
        "table_first",
        "--to",
        "1889-12-31",
        "--source",
        "corpora",
        "--rubric",
        "--writer",
        "sections",
    )
    done, evidence = ask(folder, QUESTION, *chosen)
    assert evidence["question"] == QUESTION
    assert "| Source | Date | Statement |" in (folder / done.stdout.splitlines()[-1]).read_text()
    assert max(citation["source"]["published"] for citation in evidence["citations"]) < "1890"
    assert "this will probably take" in done.stderr
    assert "searches: the default corpus\n" in done.stderr
    card = json.loads((folder / done.stdout.splitlines()[-1]).with_name("scorecard.json").read_text())
    scores = {item["criterion"]["title"]: item["score"] for item in card["items"]}
    assert scores["Cited statements"] > 0.8
    assert (scores["Opposed statements"], scores["Several sources"], scores["Reasoning"]) == (0.0, 1.0, None)
    assert f"scorecard: {card['overall']:.2f}" in done.stdout
    assert evidence["status"] == "completed"
    assert len(evidence["citations"]) >= 5
    assert len({citation["source"]["url"] for citation in evidence["citations"]}) >= 3
    assert "plan: " in done.stdout
    left = [p.pid for p in psutil.process_iter() if str(folder) in " ".join(_command(p))]
    assert not left


def test_a_question_on_ones_own_files(folder: Path) -> None:
    done, evidence = ask(folder, "What was decided about pricing?", "--docs", "my notes")
    assert "searches: the collection my-notes-" in done.stderr
    assert "skipped: broken.pdf" in done.stderr
    titles = {citation["source"]["url"] for citation in evidence["citations"]}
    assert evidence["citations"]
    assert all("notes" in url for url in titles)


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []
