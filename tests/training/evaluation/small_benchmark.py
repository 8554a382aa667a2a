"""Makes a benchmark of a few questions in DeepResearch Bench's files, and a small collection to answer them from."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from retrieval.search.in_process import open_local
from retrieval.store.catalogue import Collection, CorpusKind

COLLECTION = "small"
TEXT = """# Annual Message 1824

The tariff of 1824 was meant to protect domestic manufactures. Its friends said that foreign goods ruined the workshops of
the north. The revenue of the year exceeded eleven millions of dollars.

Southern members answered that the duties fell upon the planter alone, and that prices rose for everybody else.
"""
QUESTIONS = {
    "1": ("en", "History", "How did presidents justify the tariff of 1824?"),
    "2": ("en", "Finance", "Who paid for the tariff of 1824?"),
    "3": ("zh", "History", "1824年的关税有何理由？"),
}


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def write_benchmark(folder: Path) -> Path:
    def criteria(number: str) -> dict[str, Any]:
        return {
            "id": int(number),
            "dimension_weight": {"insight": 0.6, "readability": 0.4},
            "criterions": {
                "insight": [
                    {"criterion": "reasons", "explanation": "names them", "weight": 0.7},
                    {"criterion": "depth", "weight": 0.3},
                ],
                "readability": [{"criterion": "is clear", "explanation": "", "weight": 1}],
            },
        }

    rows = QUESTIONS.items()
    write_lines(folder / "query.jsonl", [{"id": int(n), "language": lang, "topic": t, "prompt": q} for n, (lang, t, q) in rows])
    write_lines(folder / "criteria.jsonl", [criteria(number) for number in QUESTIONS])
    write_lines(folder / "reference.jsonl", [{"id": int(n), "article": f"Reference {n}. It was for revenue."} for n in QUESTIONS])
    return folder


def index_collection(home: Path, folder: Path, text: str = TEXT) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "message.md").write_text(text)
    open_local(home, Collection(name=COLLECTION, kind=CorpusKind.FOLDER, path=str(folder))).close()
