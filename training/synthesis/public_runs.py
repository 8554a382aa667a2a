"""Runs over public benchmarks are no training data: whoever trains on them cannot be measured by them any more."""

from pathlib import Path

from app.domain.errors import InvalidInput
from training.decontamination.public_sets import PUBLIC
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.manifest import digest_files
from training.synthesis.mined_queries import BENCHMARK, MINED
from training.synthesis.recorded_runs import is_run
from training.synthesis.set_request import SetRequest


def refuse_public_runs(request: SetRequest) -> None:
    """Refuse runs over a public benchmark that the request does not name with `--option benchmark=NAME`.

    Runs over the queries of `--option mined=FILE` are readers' own, though they have the form of a benchmark.

    Raises:
        InvalidInput: an input is such a run.
    """
    named = request.options.get(BENCHMARK, "").split(",")
    own = set(digest_files([Path(request.options[MINED])]).values()) if MINED in request.options else set[str]()
    for path in filter(is_run, request.inputs):
        run = RunFolder(path).read_manifest()
        if run.benchmark in PUBLIC and run.benchmark not in named and not own & set(run.data.values()):
            raise InvalidInput(
                f"{path} answers {run.benchmark}, a public benchmark: what is trained on it cannot be measured by it. If its "
                f"questions are your own, or you want it so, say --option {BENCHMARK}={run.benchmark}"
            )
