"""An event loop whose clock jumps to the next timer: hours of waiting take as long as their Python code, on any machine."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

R = TypeVar("R")


class _JumpingSelector(selectors.DefaultSelector):
    """A selector that does not wait: it adds the time for which it was to wait to `now`, in seconds."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Return what is ready.

        Raises:
            RuntimeError: the loop would wait for ever; everybody waits for somebody else.
        """
        if timeout is None:
            raise RuntimeError("nothing is left to wait for")
        self.now += timeout
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time. It has no use for threads or sockets."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return the virtual time in seconds, from 0."""
        return self._jumping.now


def run_virtually(work: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine in virtual time and return its result."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
