"""`bench.page` comes to its figures: its API must keep up with the contract that the page reads."""

import json
import subprocess
import sys

import pytest

from tests.support.stack import ROOT
from tests.ui.real_page import CHROMIUM

pytest.importorskip("playwright", reason="playwright is not installed: `make extras`")


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: `make extras`")
def test_the_page_is_watched_read_and_drawn_anew() -> None:
    command = [sys.executable, "-m", "bench.page", "--events", "60", "--pages", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])["figures"]
    assert (figures["events"], figures["report_pages"]) == (60, 3)
    for action in ("watch_load_s", "event_p50_s", "read_load_s", "read_reload_s", "quote_p50_s", "rerun_p50_s"):
        assert figures[action] > 0, action
