"""An export of readers' preferences, as rows that a test chooses."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import orjson

from app.domain.query import ResearchQuery
from app.domain.split import Split
from app.domain.writer import ReportLineage
from app.preferences.nouns.feedback import JudgedReport, PreferencePair, ShownSide

LETTERS = str.maketrans("0123456789", "ghijklmnop")
MOMENT = datetime(2026, 11, 1, tzinfo=UTC)


def make_question(number: int) -> str:
    """Make a question that is no near-copy of another one: its nouns are in no other."""
    nouns = [hashlib.sha256(f"{number} {place}".encode()).hexdigest()[:9].translate(LETTERS) for place in range(6)]
    return f"Why did {nouns[0]} {nouns[1]} lend the {nouns[2]} of {nouns[3]} to {nouns[4]} {nouns[5]}?"


def make_pair(number: int, question: str = "", accepted: str = "", rejected: str = "", **fields: object) -> PreferencePair:
    """Make a pair; what is not told differs from pair to pair."""
    reports = [accepted or f"The better report {number}.", rejected or f"The other report {number}."]
    told = [
        JudgedReport(text=text, digest=hashlib.sha256(text.encode()).hexdigest(), lineage=ReportLineage()) for text in reports
    ]
    common = {
        "id": f"pair-{number:04}",
        "query": ResearchQuery(question=question or make_question(number)),
        "evidence_digest": f"e{number}",
        "accepted": told[0],
        "rejected": told[1],
        "strength": 2,
        "accepted_shown": ShownSide.LEFT if number % 2 else ShownSide.RIGHT,
        "seconds": 20.0,
        "hidden_seconds": 0.0,
        "reader": f"reader-{number % 10}",
        "organisation": f"organisation-{number % 5}",
        "annotation": False,
        "asked_by_reader": True,
    }
    return PreferencePair.model_validate(common | fields)


def write_export(folder: Path, pairs: Sequence[PreferencePair]) -> Path:
    """Write an export of these pairs."""
    folder.mkdir(parents=True)
    lines = b"".join(orjson.dumps(pair.model_dump(mode="json")) + b"\n" for pair in pairs)
    (folder / "pairs.jsonl").write_bytes(lines)
    (folder / "undecided.jsonl").touch()
    files = {name: (folder / f"{name}.jsonl").read_bytes() for name in ("pairs", "undecided")}
    manifest = {
        "format": "rubrica.preferences/1",
        "since": MOMENT.isoformat(),
        "consents_checked_at": MOMENT.isoformat(),
        "consenting": {"organisations": 5, "people": 10},
        "said": {"choices": len(pairs)},
        "files": {
            f"{name}.jsonl": {"rows": content.count(b"\n"), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in files.items()
        },
        "pseudonym_key": "k",
        "comments": False,
    }
    (folder / "manifest.json").write_bytes(orjson.dumps(manifest))
    return folder


def choose_split(number: int) -> Split:
    """Hold a third out for the test, and a sixth for the validation."""
    return Split.TEST if number % 3 == 0 else Split.VALIDATION if number % 6 == 1 else Split.TRAIN
