"""`bench.page` comes to its figures: its API must keep up with the contract that the page reads."""

import json
import subprocess
import sys

import pytest

from tests.support.stack import ROOT

pytestmark = pytest.mark.extra("Chromium", "playwright")


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_the_page_is_watched_read_and_drawn_anew() -> None:
    command = [sys.executable, "-m", "bench.page", "--events", "60", "--pages", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout.splitlines()[-1])["figures"]
    assert (figures["events"], figures["report_pages"]) == (60, 3)
    for action in ("watch_load_s", "event_p50_s", "read_load_s", "read_reload_s", "quote_p50_s", "rerun_p50_s"):
        assert figures[action] > 0, action
