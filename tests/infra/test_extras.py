"""`make extras` on a machine that can get nothing: it says so and goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra import extras
from infra.setup_train import list_choices

ROOT = Path(__file__).resolve().parents[2]


def test_what_cannot_be_had_is_told_and_stops_nothing(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path], check=True)
    cut_off = os.environ | {"PATH": "", "PYTHONPATH": str(ROOT), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
    command = [tmp_path / "bin" / "python", "-m", "infra.extras"]
    done = subprocess.run(command, cwd=ROOT, env=cut_off, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = [line.removeprefix("extras: ").split(" cannot be had, its tests are skipped: ") for line in done.stdout.splitlines()]
    assert [name for name, reason in told if reason] == list(extras.EXTRAS)
    assert not (tmp_path / "extras" / "searxng").exists()


def test_a_command_that_fails_is_told_by_its_last_line() -> None:
    with pytest.raises(extras.ExtraUnavailable, match=r"^there is no such wheel$"):
        extras.run_command([sys.executable, "-c", "raise SystemExit('looking\\nthere is no such wheel')"])
    with pytest.raises(extras.ExtraUnavailable, match="no-such-program"):
        extras.run_command(["no-such-program"])


def test_training_needs_the_same_versions_with_a_graphics_card_and_without() -> None:
    (card,), (none, plain) = list_choices(has_card=True), list_choices(has_card=False)
    assert [package.partition("+")[0] for package in none] == card == plain
    assert extras.TORCH in none
