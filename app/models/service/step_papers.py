"""What the steps of a cycle wrote for people: the checks of its data, and the tables of its gates."""

from pathlib import Path
from typing import NamedTuple

from app.domain.retraining import Cycle
from app.models.service.cycle_order import Step, StepKind, list_all_steps

PAPERS = {StepKind.CHECK: "checks.md", StepKind.GATE: "gate.md"}
MOST_CHARS = 200_000


class StepPaper(NamedTuple):
    """What a step wrote, in Markdown."""

    step: str
    text: str


def read_papers(place: Path, cycle: Cycle) -> list[StepPaper]:
    """Read the papers that lie in a cycle's folder, by its steps. There are none where it cannot be seen."""
    return [StepPaper(path.parent.name, path.read_text("utf-8", "replace")[:MOST_CHARS]) for path in list_papers(place, cycle)]


def list_papers(place: Path, cycle: Cycle) -> list[Path]:
    """List the papers that lie in a cycle's folder, in the order of its steps."""
    return [path for step in list_all_steps(cycle.plan) if (path := _find_paper(place, step))]


def _find_paper(place: Path, step: Step) -> Path | None:
    """Return the paper of a step. The programs that write there may not lead out of the folder by a link."""
    if step.kind not in PAPERS:
        return None
    path = place / step.name / PAPERS[step.kind]
    return path if path.is_file() and path.resolve().is_relative_to(place.resolve()) else None
