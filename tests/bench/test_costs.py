"""What a report costs without a clock, against the committed figures: a cost that grows by a tenth is told with its reason."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.call_counts import CallCounter
from bench.stack import ROOT

COMMITTED = ROOT / "bench" / "results" / "costs.json"
MOST = 1.1


@pytest.mark.timeout(1_200)
def test_a_report_costs_at_most_a_tenth_more_than_the_committed_figures() -> None:
    """Where it is meant to: keep the last line of `python -m bench.costs` as bench/results/costs.json; the commit says why."""
    done = subprocess.run([sys.executable, "-m", "bench.costs"], cwd=ROOT, capture_output=True, text=True, check=True)
    counted = json.loads(done.stdout.splitlines()[-1])["figures"]
    committed = json.loads(COMMITTED.read_text())["figures"]
    assert counted.keys() == committed.keys()
    grown = {name: (committed[name], cost) for name, cost in counted.items() if cost > MOST * committed[name]}
    assert grown == {}


def call_often(times: int) -> int:
    """Call own and built-in functions."""
    return sum(len(str(number)) for number in range(times))


def test_calls_of_own_code_are_counted_and_no_others() -> None:
    counter = CallCounter((str(Path(__file__).parent),))
    totals = []
    for times in (100, 200):
        before = counter.total
        counter.start()
        call_often(times)
        json.dumps({"a": list(range(times))}, indent=1)
        counter.stop()
        totals.append(counter.total - before)
    assert 1.9 * totals[0] < totals[1] < 2.1 * totals[0]
    assert all(Path(code.co_filename) == Path(__file__) for code in counter.counts)
