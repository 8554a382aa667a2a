"""The folder of a training set, which `datasets.load_dataset(FOLDER)` opens as it is.

README.md  manifest.json  report.html  train/rows.jsonl  validation/rows.jsonl  test/rows.jsonl  refused.jsonl
work/: what goes on where it was cut off: origin.json  journal.jsonl  answers.sqlite, and files of a kind
"""

import hashlib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from app.domain.errors import InvalidInput, NotFound
from app.domain.split import Split
from training.evaluation.harness.json_lines import append_line, cut_torn_line, read_lines
from training.folders import lock_folder, replace_file
from training.synthesis.training_set.manifest import SetOrigin, TrainingSetManifest
from training.synthesis.training_set.outcome import WorkedCandidate
from workflows.judging.batch_record import AnswerStore

WORK = "work"
MANIFEST, CARD, REPORT, REFUSED, ROWS = "manifest.json", "README.md", "report.html", "refused.jsonl", "rows.jsonl"
ORIGIN, JOURNAL, ANSWERS = f"{WORK}/origin.json", f"{WORK}/journal.jsonl", f"{WORK}/answers.sqlite"


class SetFolder:
    """The folder of one set. A kill at any moment loses no finished line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def open_work(self, origin: SetOrigin) -> Iterator[None]:
        """Begin a set here, or go on with the same set, or with a larger one.

        Raises:
            Conflict: another process works in the folder, or it holds another set.
            InvalidInput: the folder holds something that is no set, or cannot be written.
        """
        with lock_folder(self.path, WORK):
            (self.path / WORK).mkdir(exist_ok=True)
            if (begun := self.read_origin()) is not None:
                begun.require_same(origin)
            replace_file(self.path / ORIGIN, origin.model_dump_json(indent=1).encode())
            cut_torn_line(self.path / JOURNAL)
            yield

    def begin_anew(self) -> None:
        """Forget all that was made here, and keep what models answered: the same requests are not paid for again.

        Raises:
            Conflict: another process works in the folder.
        """
        with lock_folder(self.path, WORK):
            made = [*(self.path / WORK).glob("*"), *(self.path / name for name in (MANIFEST, *Split))]
            for path in made:
                if path.is_dir():
                    shutil.rmtree(path)
                elif not path.name.startswith(Path(ANSWERS).name):  # SQLite has files of its own beside it
                    path.unlink(missing_ok=True)

    def read_origin(self) -> SetOrigin | None:
        """Read the origin of the set that was begun here; None where none was."""
        begun = self.path / ORIGIN
        return SetOrigin.model_validate_json(begun.read_bytes()) if begun.exists() else None

    def read_worked(self) -> Iterator[WorkedCandidate]:
        """Read the candidates that are worked, in the order in which they ended."""
        return read_lines(self.path / JOURNAL, WorkedCandidate)

    def keep_worked(self, worked: WorkedCandidate) -> None:
        """Append a worked candidate."""
        append_line(self.path / JOURNAL, worked)

    def open_answers(self) -> AnswerStore:
        """Open the stored answers of the models; the caller closes them."""
        return AnswerStore(self.path / ANSWERS)

    def write_files(self, files: Mapping[str, bytes]) -> dict[str, str]:
        """Write files of the set, each whole, and return their SHA-256 by name."""
        for name, content in files.items():
            (self.path / name).parent.mkdir(exist_ok=True)
            replace_file(self.path / name, content)
        return {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}

    def read_manifest(self) -> TrainingSetManifest:
        """Read the manifest of a finished set.

        Raises:
            NotFound: there is no finished set in this folder.
            InvalidInput: the manifest cannot be read.
        """
        try:
            return TrainingSetManifest.model_validate_json((self.path / MANIFEST).read_bytes())
        except FileNotFoundError as error:
            raise NotFound(f"there is no finished set in {self.path}; run the command that makes it again") from error
        except ValueError as error:
            raise InvalidInput(f"{self.path / MANIFEST} cannot be read: {error}") from error
