"""`python -m training.loop.gate FOLDER`: decide whether a trained model becomes a candidate.

The folder has `gate.toml`, `scores.jsonl` and perhaps `trained_on.jsonl`. `gate.json` and `gate.md` are written there.
Exit codes: 0 passed, 2 the input cannot be used, 3 refused, 5 not known.
"""

import argparse
import sys
from pathlib import Path

from app.domain.errors import InvalidInput
from training.loop.gates.decide import GateDecision, decide_gate
from training.loop.gates.held_out import read_trained
from training.loop.gates.page import write_page
from training.loop.gates.plan import read_plan
from training.loop.gates.rows import GateVerdict
from training.loop.gates.scores import read_scores

PLAN, SCORES, TRAINED = "gate.toml", "scores.jsonl", "trained_on.jsonl"
EXIT_CODES = {GateVerdict.PASSED: 0, GateVerdict.REFUSED: 3, GateVerdict.NOT_KNOWN: 5}
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


def main() -> int:
    """Decide, write both files, and print the page."""
    parser = argparse.ArgumentParser(prog="python -m training.loop.gate", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    try:
        decision = decide_folder(folder)
    except InvalidInput as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    page = write_page(decision)
    (folder / "gate.json").write_text(decision.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / "gate.md").write_text(page, encoding="utf-8")
    print(page, end="")
    return EXIT_CODES[decision.verdict]


if __name__ == "__main__":
    sys.exit(main())
