"""A run's folder: manifest, turns, answers, scores, the judge's answers. A kill at any moment loses no finished line.

manifest.json  answers.jsonl  scores.jsonl  judge.sqlite  turns/<item>.jsonl  pages/<hash>.txt  report.html  fleet
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from app.domain.errors import InvalidInput, NotFound
from app.domain.evidence import content_key, snapshot_hash
from app.domain.trajectory import Turn
from training.evaluation.harness.example import BenchmarkAnswer
from training.evaluation.harness.json_lines import append_line, cut_torn_line, read_lines
from training.evaluation.harness.manifest import RunManifest
from training.evaluation.harness.scores import ItemScores
from training.folders import lock_folder, replace_file
from workflows.judging.batch_record import AnswerStore

MANIFEST, ANSWERS, SCORES, JUDGE = "manifest.json", "answers.jsonl", "scores.jsonl", "judge.sqlite"
TURNS, PAGES, FLEET = "turns", "pages", "fleet"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")


class RunFolder:
    """The folder of one run. Every line is written whole at once; opening the folder cuts off a torn last line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def open_run(self, manifest: RunManifest) -> Iterator[RunManifest]:
        """Begin a run here, or continue one of the same manifest, and yield the run's manifest.

        Raises:
            Conflict: another process works in the folder, or it holds another run.
            InvalidInput: the folder holds something that is no run, or cannot be written.
        """
        with lock_folder(self.path, MANIFEST):
            yield self._begin(manifest)

    def read_manifest(self) -> RunManifest:
        """Read the manifest of the run.

        Raises:
            NotFound: there is no run in this folder.
        """
        try:
            return RunManifest.model_validate_json((self.path / MANIFEST).read_bytes())
        except FileNotFoundError as error:
            raise NotFound(f"there is no run in {self.path}; `rubrica eval run` makes one") from error
        except ValueError as error:
            raise InvalidInput(f"{self.path / MANIFEST} cannot be read: {error}") from error

    def read_answers(self) -> dict[str, BenchmarkAnswer]:
        """Read the last answer of each item."""
        return {answer.item: answer for answer in read_lines(self.path / ANSWERS, BenchmarkAnswer)}

    def read_scores(self) -> dict[str, ItemScores]:
        """Read the last scores of each item."""
        return {score.item: score for score in read_lines(self.path / SCORES, ItemScores)}

    def keep_answer(self, answer: BenchmarkAnswer) -> None:
        """Append an answer."""
        append_line(self.path / ANSWERS, answer)

    def keep_scores(self, scores: ItemScores) -> None:
        """Append an item's scores."""
        append_line(self.path / SCORES, scores)

    def read_turns(self, item: str) -> list[Turn]:
        """Read the turns that a system has made for an item."""
        return list(read_lines(self._turns_path(item), Turn))

    def keep_turn(self, item: str, turn: Turn) -> None:
        """Append a turn."""
        self._turns_path(item).parent.mkdir(exist_ok=True)
        append_line(self._turns_path(item), turn)

    def replace_turns(self, item: str, turns: Iterable[Turn]) -> None:
        """Store these as all turns of an item."""
        path = self._turns_path(item)
        path.parent.mkdir(exist_ok=True)
        replace_file(path, b"".join(turn.model_dump_json(exclude_defaults=True).encode() + b"\n" for turn in turns))

    def read_fleet(self) -> UUID | None:
        """Return the fleet that answers; None where none is named."""
        path = self.path / FLEET
        return UUID(path.read_text()) if path.exists() else None

    def name_fleet(self, fleet: UUID) -> UUID:
        """Store the name of the fleet that answers, before it is made."""
        replace_file(self.path / FLEET, str(fleet).encode())
        return fleet

    def keep_page(self, text: str) -> str:
        """Store the text of a cited page, and return the name of its copy."""
        name = snapshot_hash(text)
        path = self.path / PAGES / f"{name}.txt"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            replace_file(path, text.encode())
        return name

    def read_page(self, name: str) -> str:
        """Read the stored text of a cited page."""
        return (self.path / PAGES / f"{name}.txt").read_text(encoding="utf-8")

    def open_judge_answers(self) -> AnswerStore:
        """Open the judge's stored answers; the caller closes them."""
        return AnswerStore(self.path / JUDGE)

    def _turns_path(self, item: str) -> Path:
        """Return the path of an item's turns. An id that could lead to another folder is replaced by its hash."""
        name = item if _PLAIN.fullmatch(item) else content_key(item)
        return self.path / TURNS / f"{name}.jsonl"

    def _begin(self, manifest: RunManifest) -> RunManifest:
        for path in (self.path / ANSWERS, self.path / SCORES, *(self.path / TURNS).glob("*.jsonl")):
            cut_torn_line(path)
        if (self.path / MANIFEST).exists():
            begun = self.read_manifest()
            begun.require_same(manifest)
            return begun
        replace_file(self.path / MANIFEST, manifest.model_dump_json(indent=1).encode())
        return manifest
