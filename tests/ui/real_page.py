"""Runs the page's real server, and finds the Chromium of this machine."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infra.extras import find_browser
from infra.local.ports import find_free_port
from tests.support.patience import PATIENCE_S

CHROMIUM = find_browser()
LIMIT_MS = 1_000 * PATIENCE_S
ROOT = Path(__file__).parents[2]


@contextmanager
def serve_page(api_url: str, key: str = "rbk_local") -> Iterator[str]:
    """Serve the real page on a free port. With a key it is one person's own; without one, visitors sign in."""
    port = find_free_port()
    options = ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ui", *options],
        env=os.environ | {"RUBRICA_API_URL": api_url, "RUBRICA_API_KEY": key, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not _answers(f"http://127.0.0.1:{port}/_stcore/health"):
            assert process.poll() is None
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        urllib.request.urlopen(url).close()
    except OSError:
        return False
    return True
