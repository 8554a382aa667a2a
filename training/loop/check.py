"""The checks of a cycle's data, and what is left of it to learn from. `python -m training.loop.check FOLDER`."""

import sys
from pathlib import Path

from app.domain.retraining import DataChecks, StepOutcome, StepTask, StepVerdict
from app.domain.step_folder import EXPORT
from app.preferences.nouns.feedback import PreferencePair, UndecidedPair
from app.preferences.service.training_export import PAIRS, UNDECIDED
from training.evaluation.race_files import read_rows
from training.loop.check_page import write_pages
from training.loop.kept_export import write_kept
from training.loop.step import run_step
from training.loop.vote_checks import (
    CheckedVotes,
    count_near_questions,
    find_one_sided,
    leave_out,
    measure_agreement,
    share_of_longer,
)

KEPT = "kept"


def check_data(task: StepTask, folder: Path) -> StepOutcome:
    """Leave out what is not to be learned from, write the rest as an export, and say what is missing or wrong."""
    export = Path(task.folders["snapshot"]) / EXPORT
    pairs = [PreferencePair.of_any_version(row) for row in read_rows(export / PAIRS)]
    undecided = [UndecidedPair.of_any_version(row) for row in read_rows(export / UNDECIDED)]
    checked = leave_out(pairs, undecided, task.checks)
    write_kept(export, folder / KEPT, checked)
    outcome = judge_votes(checked, task.checks)
    write_pages(folder, outcome, task.checks)
    return outcome


def judge_votes(checked: CheckedVotes, checks: DataChecks) -> StepOutcome:
    """Return what the votes lack, or what is wrong with them, with all figures."""
    readers = len({pair.reader for pair in checked.pairs})
    counts = {"pairs": len(checked.pairs), "undecided": len(checked.undecided), "readers": readers}
    figures = {**counts, "left_out": dict(checked.left_out)}
    wanted = ((len(checked.pairs), "decided pairs", checks.least_pairs), (readers, "readers", checks.least_readers))
    if lacking := [f"{count} {what} of {least}" for count, what, least in wanted if count < least]:
        return StepOutcome(verdict=StepVerdict.LACKING, detail="there are " + " and ".join(lacking), figures=figures)
    faults, measured = _find_faults(checked, checks)
    verdict = StepVerdict.REFUSED if faults else StepVerdict.DONE
    return StepOutcome(verdict=verdict, detail="; ".join(faults), figures=figures | measured)


def _find_faults(checked: CheckedVotes, checks: DataChecks) -> tuple[list[str], dict[str, object]]:
    """Return what is wrong with the votes as a whole, and what was measured of them."""
    agreement, judged_twice = measure_agreement([*checked.pairs, *checked.undecided])
    left = find_one_sided(checked.pairs)
    measured: dict[str, object] = {
        "agreement": agreement,
        "judged_by_two": judged_twice,
        "left": list(left or ()),
        "longer_preferred": share_of_longer(checked.pairs),
        "near_copies": count_near_questions(checked.pairs),
    }
    faults = list[str]()
    if judged_twice and agreement < checks.least_agreement:
        faults.append(f"readers of the same pair agree in {agreement:.0%}, and must in {checks.least_agreement:.0%}")
    if left and abs(left.rate - 0.5) > checks.most_one_sided and not left.low <= 0.5 <= left.high:
        faults.append(f"{left.rate:.0%} of the preferred reports stood left: readers choose a side, not a report")
    return faults, measured


if __name__ == "__main__":
    sys.exit(run_step(check_data))
