"""Stopping a run: after SIGTERM or Ctrl-C the step in hand ends and is saved, and the same command goes on from there."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from app.domain.errors import RubricaError

SIGNALS = (signal.SIGTERM, signal.SIGINT)
HEARD = b"the step in hand is ended and saved; the next signal stops at once\n"
STDERR = 2


class TrainingStopped(RubricaError):
    """A signal stopped the run after a step that is saved."""

    def __init__(self, step: int, received: signal.Signals) -> None:
        super().__init__(f"stopped after step {step}; the same command goes on from there")
        self.received = received


class StopRequest:
    """The signal that asks the run to stop; None before."""

    received: signal.Signals | None = None


@contextmanager
def watch_signals() -> Iterator[StopRequest]:
    """Take note of the first SIGTERM or Ctrl-C. The second one does what it did before. Only the main thread can watch.

    Ctrl-C stays ignored where whoever started the process wants it ignored (`nohup`, a script's background).
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in handlers.items() if handler is not signal.SIG_IGN}

    def take_note(number: int, _: FrameType | None) -> None:
        request.received = signal.Signals(number)
        restore()
        # A handler may come in the midst of a `print`, which cannot be begun again.
        os.write(STDERR, HEARD)

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, take_note)
    try:
        yield request
    finally:
        restore()
