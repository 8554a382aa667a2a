"""`python -m training.loop.gate FOLDER`: decide whether a trained model becomes a candidate.

The folder has `gate.toml`, `scores.jsonl` and perhaps `trained_on.jsonl`. `gate.json` and `gate.md` are written there.
Exit codes: 0 passed, 2 the input cannot be used, 3 refused, 5 not known. As a step of a cycle (the folder has a task) it reads
the plan's gate and the exam's scores, and leaves an outcome.
"""

import argparse
import sys
from pathlib import Path

from app.domain.errors import InvalidInput
from app.domain.retraining import StepOutcome, StepTask, StepVerdict
from app.domain.step_folder import GATE_TABLE, TASK
from training.folders import replace_file
from training.loop.gates.decide import GateDecision, decide_gate
from training.loop.gates.held_out import read_trained
from training.loop.gates.page import write_page
from training.loop.gates.plan import read_plan
from training.loop.gates.rows import GateVerdict
from training.loop.gates.scores import read_scores
from training.loop.stage_gate import read_stage_gate
from training.loop.step import run_step

PLAN, SCORES, TRAINED = "gate.toml", "scores.jsonl", "trained_on.jsonl"
EXIT_CODES = {GateVerdict.PASSED: 0, GateVerdict.REFUSED: 3, GateVerdict.NOT_KNOWN: 5}
OUTCOMES = {
    GateVerdict.PASSED: StepVerdict.DONE,
    GateVerdict.REFUSED: StepVerdict.REFUSED,
    GateVerdict.NOT_KNOWN: StepVerdict.LACKING,
}
BAD_INPUT = 2


def decide_folder(folder: Path) -> GateDecision:
    """Decide the gate of a folder.

    Raises:
        InvalidInput: a file is missing or cannot be used.
    """
    trained = folder / TRAINED
    return decide_gate(
        read_plan(folder / PLAN), read_scores(folder / SCORES), read_trained(trained) if trained.exists() else None
    )


def decide_step(task: StepTask, folder: Path) -> StepOutcome:
    """Decide the gate of a stage. What is not known lacks data: the detail says how much."""
    exam = Path(task.folders["exam"])
    decision = decide_gate(read_stage_gate(task), read_scores(exam / SCORES), read_trained(exam / TRAINED))
    write_decision(folder, decision)
    rows = [row.model_dump(mode="json") for row in decision.rows]
    return StepOutcome(verdict=OUTCOMES[decision.verdict], detail="; ".join(decision.reasons), figures={"rows": rows})


def write_decision(folder: Path, decision: GateDecision) -> str:
    """Write a decision as data and as a page, and return the page."""
    page = write_page(decision)
    replace_file(folder / GATE_TABLE, decision.model_dump_json(indent=2).encode() + b"\n")
    replace_file(folder / "gate.md", page.encode())
    return page


def main() -> int:
    """Decide, write both files, and print the page."""
    parser = argparse.ArgumentParser(prog="python -m training.loop.gate", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    if (folder / TASK).exists():
        return run_step(decide_step)
    try:
        decision = decide_folder(folder)
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    print(write_decision(folder, decision), end="")
    return EXIT_CODES[decision.verdict]


if __name__ == "__main__":
    sys.exit(main())
