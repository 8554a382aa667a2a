"""The benchmark of safe fetching, as a test: it is quick, and what it counts must never happen."""

import json
import subprocess
import sys
from pathlib import Path


def test_no_refused_address_is_connected_to() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.browse_safety"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[2],
    )
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])["figures"]
    assert figures["cases"] >= 120
    assert figures["connections"] == 0
    assert figures["benign"] >= 15
