"""The runs that a preset of trajectories takes: DeepRubric's cold start (DRub 4.1, Table 4), 200 examples."""

from collections.abc import Iterable

from app.domain.errors import InvalidInput
from app.domain.query import SystemName
from training.evaluation.harness.example import QuestionOrigin
from training.synthesis.recorded_runs import RecordedRun
from training.synthesis.set_request import SetRequest

PRESET, DEEPRUBRIC = "preset", "deeprubric"
MOST_ROWS = 200


def choose_runs(runs: Iterable[RecordedRun], request: SetRequest) -> Iterable[RecordedRun]:
    """Return the runs that `--option preset=deeprubric` takes: DeepRubric's agent on queries of evidence trees. Else all.

    Raises:
        InvalidInput: there is no such preset, or more rows are wanted than it has.
    """
    said = request.options.get(PRESET)
    if said is None:
        return runs
    if said != DEEPRUBRIC or request.rows > MOST_ROWS:
        raise InvalidInput(f"--option preset is {DEEPRUBRIC}, with --rows {MOST_ROWS} or fewer")
    return (
        run for run in runs if run.manifest.system.name == SystemName.DEEPRUBRIC and run.question.source == QuestionOrigin.TREE
    )
