"""The index owner as a process of its own, for tests that speak to it as the product does."""

import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class OwnerProcess:
    """An owner process of one home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = tempfile.TemporaryDirectory(prefix="rbq")  # a socket's path must be short
        self.socket = Path(self.folder.name) / "index.sock"
        self.process = self.start()

    def start(self) -> "subprocess.Popen[bytes]":
        command = [
            sys.executable,
            "-m",
            "retrieval.service.server",
            "--socket",
            str(self.socket),
            "--home",
            str(self.home),
            "--encoder",
            "none",
        ]
        self.process = subprocess.Popen(command)
        while not self._answers():
            assert self.process.poll() is None
            time.sleep(0.02)
        return self.process

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self.socket)) == 0

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()

    def clean(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()
