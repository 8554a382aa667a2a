"""The demonstration of a recipe opens its report where somebody sits at a terminal."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

OPEN = "from pathlib import Path; from tests.support.train_demo import open_report; open_report(Path('report.html'))"
BROWSER = '#!/bin/sh\necho "$1" > opened\n'


@pytest.mark.parametrize("at_terminal", [True, False])
def test_a_report_is_opened_at_a_terminal_only(at_terminal: bool, tmp_path: Path) -> None:
    (tmp_path / "browser").write_text(BROWSER)
    (tmp_path / "browser").chmod(0o755)
    master, terminal = os.openpty()
    environment = os.environ | {"BROWSER": str(tmp_path / "browser"), "PYTHONPATH": str(Path(__file__).parents[2])}
    stdout = terminal if at_terminal else subprocess.DEVNULL
    subprocess.run([sys.executable, "-c", OPEN], cwd=tmp_path, env=environment, stdout=stdout, check=True)
    os.close(master)
    os.close(terminal)
    opened = tmp_path / "opened"
    assert (opened.read_text().strip() if opened.exists() else "") == ((tmp_path / "report.html").as_uri() if at_terminal else "")
