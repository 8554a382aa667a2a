"""The fuzzer: the examples of the document are sent as they stand, and what went wrong is counted."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.fuzz_api import count_figures
from bench.stack import ROOT


@pytest.mark.slow
def test_the_examples_of_every_operation_are_taken(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.fuzz_api", "--phases", "examples", "--cases", "30"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    found = json.loads(finished.stdout.splitlines()[-1])["figures"]
    assert found["cases"] >= 30
    assert (found["failures"], found["server_errors"]) == (0, 0)


def test_failures_and_server_errors_are_counted(tmp_path: Path) -> None:
    recorder = {
        "interactions": {
            "a": {"response": {"status_code": 200}},
            "b": {"response": {"status_code": 503}},
            "c": {"response": None},
        },
        "checks": {"a": [{"status": "success"}], "b": [{"status": "failure"}, {"status": "success"}]},
    }
    lines = tmp_path / "events.ndjson"
    lines.write_text(
        "\n".join(json.dumps(line) for line in ({"ScenarioFinished": {"recorder": recorder}}, {"Other": {"id": "x"}}))
    )
    assert count_figures(lines) == {"cases": 2, "failures": 1, "server_errors": 1}
