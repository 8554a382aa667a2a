"""A lock that is handed on in the order in which it was asked for."""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """One thread at a time has its turn, and the others stand in line; Python's own lock may pass them over."""

    def __init__(self) -> None:
        self._line: deque[object] = deque()
        self._moved = threading.Condition()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for a turn, and have it until the end."""
        place = object()
        with self._moved:
            self._line.append(place)
            self._moved.wait_for(lambda: self._line[0] is place)
        try:
            yield
        finally:
            with self._moved:
                self._line.popleft()
                self._moved.notify_all()

    def pass_on(self) -> bool:
        """Let those who wait have a turn each. Return whether there was anybody. Only who has the turn passes it on."""
        with self._moved:
            if len(self._line) == 1:
                return False
            place = self._line[0]
            self._line.rotate(-1)
            self._moved.notify_all()
            self._moved.wait_for(lambda: self._line[0] is place)
            return True
