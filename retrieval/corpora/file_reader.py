"""The reading of files that strangers may have made, in a child process with limits of memory and time (`reading_child`)."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Any, Self

from app.domain.blocks import read_blocks
from app.domain.errors import SourceUnreadable
from retrieval.corpora.extract import Extract
from retrieval.language.dates import read_date

READING_LIMIT = timedelta(seconds=150)
"""More than the PDF reader's own limit, so that it can return the pages it has read."""
_ROOT = Path(__file__).resolve().parents[2]
_COMMAND = (sys.executable, "-m", "retrieval.corpora.reading_child")


class FileReader:
    """A reader of files, one at a time, in a child process that starts at the first use and again after it died.

    Use it in `with`, and only from one thread at a time.
    """

    def __init__(self, limit: timedelta = READING_LIMIT) -> None:
        self._limit = limit
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end_child()

    def read(self, suffix: str, content: bytes) -> Extract:
        """Read the text of a file with this ending.

        Raises:
            SourceUnreadable: with the reason, also where it takes too long or too much memory.
        """
        answer = self._ask(suffix, content)
        if "error" in answer:
            raise SourceUnreadable(str(answer["error"]))
        dates = {field: read_date(answer[field]) for field in ("published", "changed")}
        return Extract(**answer | dates | {"blocks": read_blocks(answer["blocks"])})

    def _ask(self, suffix: str, content: bytes) -> dict[str, Any]:
        child = self._start_child()
        assert child.stdin is not None  # both are pipes, see `_started`
        assert child.stdout is not None
        watch = Timer(self._limit.total_seconds(), child.kill)
        watch.start()
        try:
            child.stdin.write(json.dumps({"size": len(content), "suffix": suffix}).encode() + b"\n" + content)
            child.stdin.flush()
            answer: dict[str, Any] = json.loads(child.stdout.readline())
        except (OSError, ValueError) as error:
            self._end_child()
            raise SourceUnreadable("could not be read: it takes too long or too much memory, or breaks its reader") from error
        finally:
            watch.cancel()
        return answer

    def _start_child(self) -> "subprocess.Popen[bytes]":
        """Return the child. Of this process's environment it knows only where Python and the product are."""
        if self._child is None:
            environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(_ROOT), "LANG": "C.UTF-8"}
            pipe, null = subprocess.PIPE, subprocess.DEVNULL
            self._child = subprocess.Popen(
                _COMMAND, stdin=pipe, stdout=pipe, stderr=null, env=environment, start_new_session=True
            )
        return self._child

    def _end_child(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None
