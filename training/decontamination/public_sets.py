"""The questions of public sets, given as `NAME=DATA`: a benchmark of ours, or any JSON Lines file with questions."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.settings import Settings
from training.decontamination.known_texts import KnownTexts
from training.evaluation.benchmarks.catalogue import LOCATIONS, load_benchmark
from training.evaluation.benchmarks.files import read_json_lines
from training.evaluation.harness.example import BenchmarkInput

PUBLIC = frozenset(LOCATIONS) - {"graph-set", "graph-requests", "tree-set"}
"""The benchmarks that others publish. The questions of sets that were made here are our own."""
QUESTIONS_OF = {"drb-race": "drb-fact"}
"""Benchmarks whose questions another one reads, which needs no further files."""
FIELDS = ("prompt", "question", "query", "text", "Question", "problem")


def locate_benchmarks(settings: Settings) -> Path:
    """Return the folder of public benchmarks."""
    return settings.benchmarks_dir or settings.home / "benchmarks"


def find_public_sets(folder: Path) -> list[str]:
    """Find the public benchmarks in this folder, each in a folder or a file of its name; return them as `NAME=DATA`."""
    found = {name: [path for path in (folder / name, *sorted(folder.glob(f"{name}.*"))) if path.exists()] for name in PUBLIC}
    return [f"{name}={paths[0]}" for name, paths in sorted(found.items()) if paths]


def read_public_sets(named: Sequence[str]) -> tuple[KnownTexts, dict[str, int]]:
    """Read all questions of these sets, and return them with the number that each set has.

    Raises:
        InvalidInput: a set is not given as `NAME=DATA`, cannot be read, or has no question.
    """
    public, counts = KnownTexts(), {}
    for text in named:
        name, given, data = text.partition("=")
        if not given or not name.strip() or not data.strip():
            raise InvalidInput(f"{text!r} names no set; write NAME=DATA, such as drb-fact=path/to/deepresearch-bench")
        counts[name] = public.add(name, read_questions(name, Path(data).expanduser()))
        if not counts[name]:
            raise InvalidInput(f"{data} has no question")
    return public, counts


def list_public_files(named: Sequence[str]) -> dict[str, Sequence[Path]]:
    """Return the files of public sets by their names, given as `NAME=DATA`."""
    found: dict[str, Sequence[Path]] = {}
    for name, _, data in (text.partition("=") for text in named):
        path = Path(data).expanduser()
        own = QUESTIONS_OF.get(name, name)
        found[name] = load_benchmark(own).files(BenchmarkInput(path)) if own in LOCATIONS else [path]
    return found


def read_questions(name: str, data: Path) -> Iterator[str]:
    """Yield the questions of a benchmark of ours, or of a file that any other set is in.

    Raises:
        InvalidInput: the data cannot be read.
    """
    if name in LOCATIONS:
        return (example.question for example in load_benchmark(QUESTIONS_OF.get(name, name)).read(BenchmarkInput(data)))
    return iter(read_json_lines(data, _question_of))


def _question_of(row: dict[str, Any]) -> str:
    found = next((row[field] for field in FIELDS if isinstance(row.get(field), str)), None)
    if found is None:
        raise ValueError(f"it has none of the fields {', '.join(FIELDS)}")
    return str(found)
