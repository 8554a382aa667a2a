"""A run's folder: manifest, turns, answers, scores, what the judge answered. A kill at any moment loses no finished line.

manifest.json  answers.jsonl  scores.jsonl  judge.sqlite  turns/<item>.jsonl  pages/<hash>.txt  report.html  fleet
"""

import fcntl
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from app.domain.errors import Conflict, InvalidInput, NotFound
from app.domain.evidence import content_key, snapshot_hash
from app.domain.trajectory import Turn
from training.evaluation.harness.example import Answer
from training.evaluation.harness.lines import append_line, lines_of, without_torn_line
from training.evaluation.harness.manifest import Manifest
from training.evaluation.harness.scores import Scores
from workflows.judging.batch import KeptAnswers

MANIFEST, ANSWERS, SCORES, JUDGE, LOCK = "manifest.json", "answers.jsonl", "scores.jsonl", "judge.sqlite", "lock"
TURNS, PAGES, FLEET = "turns", "pages", "fleet"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,80}")


class RunFolder:
    """Reads and appends. Every line is written at once and whole; a torn last one is cut off when the folder is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def opened(self, manifest: Manifest) -> Iterator[Manifest]:
        """Begin a run here, or go on with one of the same manifest; the manifest that counts.

        Raises:
            Conflict: another process is at it, or it holds another run.
            InvalidInput: the folder holds something that is no run, or cannot be written.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not (self.path / MANIFEST).exists() and any(entry.name != LOCK for entry in self.path.iterdir()):
                raise InvalidInput(f"{self.path} holds something else; a run gets a folder of its own")
            lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be written: {error.strerror}") from error
        try:
            self._hold(lock)
            yield self._begun(manifest)
        finally:
            os.close(lock)

    def manifest(self) -> Manifest:
        """What the run was made with.

        Raises:
            NotFound: there is no run in this folder.
        """
        try:
            return Manifest.model_validate_json((self.path / MANIFEST).read_bytes())
        except FileNotFoundError as error:
            raise NotFound(f"there is no run in {self.path}; `rubrica eval run` makes one") from error
        except ValueError as error:
            raise InvalidInput(f"{self.path / MANIFEST} cannot be read: {error}") from error

    def answers(self) -> dict[str, Answer]:
        """By item; of several the last."""
        return {answer.item: answer for answer in lines_of(self.path / ANSWERS, Answer)}

    def scores(self) -> dict[str, Scores]:
        """By item; of several the last."""
        return {score.item: score for score in lines_of(self.path / SCORES, Scores)}

    def keep_answer(self, answer: Answer) -> None:
        """Append it."""
        append_line(self.path / ANSWERS, answer)

    def keep_scores(self, scores: Scores) -> None:
        """Append them."""
        append_line(self.path / SCORES, scores)

    def turns(self, item: str) -> list[Turn]:
        """What a system did for an item, as far as it came."""
        return list(lines_of(self._turns(item), Turn))

    def keep_turn(self, item: str, turn: Turn) -> None:
        """Append it."""
        self._turns(item).parent.mkdir(exist_ok=True)
        append_line(self._turns(item), turn)

    def replace_turns(self, item: str, turns: Iterable[Turn]) -> None:
        """Keep these as all of them."""
        path = self._turns(item)
        path.parent.mkdir(exist_ok=True)
        _replace(path, b"".join(turn.model_dump_json(exclude_defaults=True).encode() + b"\n" for turn in turns))

    def fleet(self) -> UUID | None:
        """The fleet that answers, if one was named."""
        path = self.path / FLEET
        return UUID(path.read_text()) if path.exists() else None

    def name_fleet(self, fleet: UUID) -> UUID:
        """Note which fleet answers, before it is made."""
        _replace(self.path / FLEET, str(fleet).encode())
        return fleet

    def keep_page(self, text: str) -> str:
        """Keep the text of a cited page; the name of its copy."""
        name = snapshot_hash(text)
        path = self.path / PAGES / f"{name}.txt"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            _replace(path, text.encode())
        return name

    def page(self, name: str) -> str:
        """A kept text."""
        return (self.path / PAGES / f"{name}.txt").read_text(encoding="utf-8")

    def judged(self) -> KeptAnswers:
        """What the judge answered; to be closed."""
        return KeptAnswers(self.path / JUDGE)

    def _turns(self, item: str) -> Path:
        """Ids come from files of others: one that could lead elsewhere is named by its hash."""
        name = item if _PLAIN.fullmatch(item) else content_key(item)
        return self.path / TURNS / f"{name}.jsonl"

    def _hold(self, lock: int) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(f"another process is at work in {self.path}; wait for it, or stop it") from error

    def _begun(self, manifest: Manifest) -> Manifest:
        for path in (self.path / ANSWERS, self.path / SCORES, *(self.path / TURNS).glob("*.jsonl")):
            without_torn_line(path)
        if (self.path / MANIFEST).exists():
            begun = self.manifest()
            begun.require_same(manifest)
            return begun
        _replace(self.path / MANIFEST, manifest.model_dump_json(indent=1).encode())
        return manifest


def _replace(path: Path, content: bytes) -> None:
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)
