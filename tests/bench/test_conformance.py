"""The command that holds us against the suites of others: its table and its frozen versions."""

import json
from pathlib import Path

import pytest

from bench.conformance.outcome import NotRun, count_checks
from bench.conformance.packages import FROZEN, HERE, WHEELS, find_package, find_version
from bench.conformance.table import Row, list_figures, write_table


def test_the_table_tells_what_ran_and_what_did_not_with_the_reason() -> None:
    found = count_checks([("a", ""), ("b", "wrong"), ("c", "")], {"d": "no tool", "e": "no tool"})
    rows = [Row("Suite", "1.2", found), Row("Other", "", None, "not to be had")]
    lines = list(write_table(rows))
    assert [line.split() for line in lines[:3]] == [
        ["suite", "version", "run", "passed", "skipped", "failed"],
        ["Suite", "1.2", "3", "2", "2", "1"],
        ["Other", "not", "run"],
    ]
    assert lines[4:] == ["failed: Suite: b: wrong", "skipped: Suite: d, e: no tool", "not run: Other: not to be had"]
    assert list_figures(rows) == {"run": 3, "passed": 2, "skipped": 2, "failed": 1, "not_run": 1}


def test_every_version_is_frozen() -> None:
    wanted = json.loads((HERE / FROZEN[0]).read_text())
    locked = json.loads((HERE / FROZEN[1]).read_text())["packages"]
    for name, version in {**wanted["dependencies"], **wanted["optionalDependencies"]}.items():
        assert locked[f"node_modules/{name}"]["version"] == version
    assert all(package.get("integrity") for name, package in locked.items() if name)
    wheels = [line for line in (HERE / WHEELS).read_text().splitlines() if not line.startswith("#")]
    assert all(line.count("==") == 1 for line in wheels)
    assert find_version("axe-core") == wanted["dependencies"]["axe-core"]
    assert f"pikepdf=={find_version('pikepdf')}" in wheels


def test_a_suite_that_was_not_fetched_is_not_run(tmp_path: Path) -> None:
    with pytest.raises(NotRun, match="axe-core"):
        find_package(tmp_path, "axe-core")
