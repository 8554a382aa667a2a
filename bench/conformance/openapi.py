"""schemathesis: each operation of our OpenAPI description, with its examples and a few made requests, valid and not."""

import argparse
import tempfile
from pathlib import Path

from bench.conformance.outcome import Outcome
from bench.fuzz_api import count_figures, fuzz, start_target

# `make fuzz-api` tries the rest, for as long as it takes.
OPTIONS = argparse.Namespace(examples=4, phases="examples,fuzzing", seed=1, more=[])


def check_openapi(_: Path) -> Outcome:
    """Send the cases; a check that fails, or an answer of 500 and above, is a failure."""
    with tempfile.TemporaryDirectory() as folder, start_target(Path(folder) / "api") as target:
        found = count_figures(fuzz(target, Path(folder), OPTIONS))
    failed = {name: f"{found[name]:.0f}" for name in ("failures", "server_errors") if found[name]}
    return Outcome(int(found["cases"]) - len(failed), failed=failed)
