"""Evaluated runs and training runs with the labels that place them in a table.

LABEL=FOLDER puts a run into the row of that id. `ROW:NAME` puts several models into one row. A label that is no row's id makes a
row of its own, and so does a folder without a label, named by what ran.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.domain.errors import InvalidInput
from training.evaluation.harness.manifest import RunManifest
from training.evaluation.harness.run_page import RunRecord, read_record

STEP_MARK, NAME_MARK = "@", ":"


@dataclass(frozen=True, slots=True)
class LabelledRun:
    """One evaluated run and its label."""

    label: str
    folder: Path
    record: RunRecord

    @property
    def row(self) -> str:
        """The id of the row that the label names."""
        return self.label.partition(NAME_MARK)[0]

    @property
    def manifest(self) -> RunManifest:
        """What the run was made with."""
        return self.record.manifest


def read_labelled_runs(given: Sequence[str]) -> list[LabelledRun]:
    """Read the runs of these options.

    Raises:
        NotFound: a folder holds no run.
        InvalidInput: a label is empty, or a run cannot be read.
    """
    found = []
    for label, folder in map(split_label, given):
        record = read_record(folder)
        found.append(LabelledRun(label or name_system(record.manifest), folder, record))
    return found


def split_label(given: str) -> tuple[str, Path]:
    """Split LABEL=FOLDER; the label is empty where only a folder is given.

    Raises:
        InvalidInput: nothing stands before or after the sign.
    """
    label, sign, folder = given.partition("=")
    if not sign or Path(given).exists():
        return "", Path(given)
    if not label.strip() or not folder.strip():
        raise InvalidInput(f"{given!r} is no LABEL=FOLDER")
    return label.strip(), Path(folder.strip())


def name_system(manifest: RunManifest) -> str:
    """Name a run without a label by its system and model, or by its judge where no system ran."""
    model = manifest.system.model or manifest.judge.model
    return ", ".join(part for part in (manifest.system.name, model.name if model else "") if part)


def step_of(label: str) -> tuple[str, int] | None:
    """Return the series and step of a label such as `grpo@140`; None of any other."""
    series, sign, step = label.rpartition(STEP_MARK)
    return (series, int(step)) if sign and series and step.isdecimal() else None
