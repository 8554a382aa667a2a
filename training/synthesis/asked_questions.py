"""Questions that systems were asked: what sets and benchmarks know of them, by their id."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.query import Language, detect_language
from app.domain.value import Value
from training.evaluation.benchmarks.files import read_json_lines
from training.synthesis.training_set.folder import ROWS

GRAPH, PRODUCT, HARD = "graph", "product", "hard"
_TEXT = ("query", "prompt", "text", "question")
_ID = ("id", "_id")
EASY_HOPS, MEDIUM_HOPS = 2, 3


class AskedQuestion(Value):
    """A question with its origin: of a graph, of readers of the product, or a hard case that people wrote.

    `hops` is 0 where nobody knows how many steps of reasoning it needs.
    """

    id: str
    text: str
    language: Language
    source: str
    topic: str = ""
    hops: int = 0

    @property
    def difficulty(self) -> str:
        """The difficulty by hops (MindDR 4.4): easy up to 2, medium 3, hard beyond; empty where they are unknown."""
        if not self.hops:
            return ""
        return "easy" if self.hops <= EASY_HOPS else "medium" if self.hops == MEDIUM_HOPS else "hard"


def read_questions(paths: Sequence[Path], hard: Sequence[Path] = ()) -> dict[str, AskedQuestion]:
    """Read questions by id, from files of JSON lines and from training sets. Those of `hard` are hard cases that people wrote.

    A row that states its hops comes from a graph, unless it names its source; any other was asked by a reader.

    Raises:
        InvalidInput: a file cannot be read, or a row has no id or no text.
    """
    found = {question.id: question for path in paths for question in _read_file(path, "")}
    return found | {question.id: question for path in hard for question in _read_file(path, HARD)}


def _read_file(path: Path, source: str) -> Iterator[AskedQuestion]:
    files = sorted(path.glob(f"*/{ROWS}")) if path.is_dir() else [path]
    if not files:
        raise InvalidInput(f"{path} is neither a file of questions nor a training set")
    for file in files:
        yield from read_json_lines(file, lambda row: _question_of(row, source))


def _question_of(row: Mapping[str, Any], source: str) -> AskedQuestion:
    text = next((str(row[name]) for name in _TEXT if row.get(name)), "")
    name = next((str(row[key]) for key in _ID if row.get(key) is not None), "")
    if not text or not name:
        raise ValueError(f"a question needs one of {', '.join(_ID)} and one of {', '.join(_TEXT)}")
    hops = int(row.get("hops") or 0)
    told = str(row.get("source") or "")
    known = source or (told if told in (GRAPH, PRODUCT, HARD) else GRAPH if hops else PRODUCT)
    return AskedQuestion(
        id=name, text=text, language=detect_language(text), source=known, topic=str(row.get("topic") or ""), hops=hops
    )
