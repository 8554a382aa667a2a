"""The page's real server, and the Chromium that there may be on a machine."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.patience import PATIENCE_S

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LIMIT_MS = 60_000
ROOT = Path(__file__).parents[2]


@contextmanager
def page_server(api_url: str, key: str = "rbk_local") -> Iterator[str]:
    """The real page on a free port. With a key it is one person's own; without one, visitors sign in."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={port}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(ROOT / "ui" / "server.py"), *options],
        env=os.environ | {"RUBRICA_API_URL": api_url, "RUBRICA_API_KEY": key, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/_stcore/health")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            urllib.request.urlopen(url, timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline, f"{url} does not answer"
            time.sleep(0.1)
        else:
            return
