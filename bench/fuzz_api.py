"""`python -m bench.fuzz_api`: run all checks of schemathesis over the OpenAPI document (`make fuzz-api`).

The API is served on a real PostgreSQL; runs are brief and made without a model, so that only the API is tested. Every answer is
compared with the document: status, type, headers, schema. Links between requests are followed. Valid requests must be accepted
and invalid ones refused. An answer of 500 or above is a failure whatever the document says.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.result import print_result
from bench.stack import ROOT

CASES = 5_000
CONFIGURATION = ROOT / "bench" / "fuzz_api.toml"


class FuzzTarget(NamedTuple):
    """The API under test, and a key of its owner."""

    address: str
    key: str


@contextmanager
def start_target(folder: Path) -> Iterator[FuzzTarget]:
    """Start the API in a process of its own."""
    command = [sys.executable, "-m", "tests.support.fuzzed_api", str(folder)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield FuzzTarget(*process.stdout.readline().split())
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def fuzz(tried: FuzzTarget, folder: Path, options: argparse.Namespace) -> Path:
    """Run schemathesis; return the file of its own report, one JSON a line."""
    lines = folder / "events.ndjson"
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIGURATION), "run"]
    command += [f"{tried.address}/schema/openapi.json", "-H", f"Authorization: Bearer {tried.key}"]
    command += ["--max-examples", str(options.examples), "--phases", options.phases, "--seed", str(options.seed), "--no-color"]
    command += ["--report", "ndjson", "--report-ndjson-path", str(lines), *options.more]
    subprocess.run(command, cwd=ROOT, check=False)
    return lines


def count_figures(lines: Path) -> dict[str, float]:
    """Count cases that were sent, failures of checks, and answers of 500 and above."""
    statuses: Counter[int] = Counter()
    failures = 0
    for recorder in _read_recorders(lines):
        answers = [found["response"] for found in recorder.get("interactions", {}).values() if found.get("response")]
        statuses.update(answer["status_code"] for answer in answers)
        checks = [check for of_case in recorder.get("checks", {}).values() for check in of_case]
        failures += sum(check["status"] == "failure" for check in checks)
    errors = sum(count for status, count in statuses.items() if status >= 500)
    return {"cases": sum(statuses.values()), "failures": failures, "server_errors": errors}


def _read_recorders(lines: Path) -> Iterator[dict[str, Any]]:
    """Yield the record schemathesis made of each scenario."""
    for line in lines.read_text().splitlines():
        for event in json.loads(line).values():
            if isinstance(event, dict) and isinstance(event.get("recorder"), dict):
                yield event["recorder"]


def main() -> int:
    """Fuzz and print the figures; return 1 when a case failed, or when there were too few."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=150, help="cases an operation and phase")
    parser.add_argument("--phases", default="examples,coverage,fuzzing,stateful")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=CASES, help="how many there must be")
    parser.add_argument("more", nargs="*", help="further words for schemathesis")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, start_target(Path(folder) / "api") as tried:
        found = count_figures(fuzz(tried, Path(folder), options))
    print_result("fuzz_api", found)
    return int(found["failures"] > 0 or found["server_errors"] > 0 or found["cases"] < options.cases)


if __name__ == "__main__":
    sys.exit(main())
