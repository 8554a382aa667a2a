"""The source copies that are known to be stored, so that a worker need not ask again for each stage that cites them."""

import time
from collections.abc import Iterable
from datetime import timedelta

KNOWN_FOR = timedelta(hours=6)
"""A requested copy is stored for at least half a day. Older knowledge may be out of date."""


class KnownSources:
    """Names of copies, each with the moment it was last asked for."""

    def __init__(self) -> None:
        self._asked: dict[str, float] = {}

    def list_unknown(self, names: Iterable[str]) -> list[str]:
        """Return the names that have to be asked for."""
        since = time.monotonic() - KNOWN_FOR.total_seconds()
        return [name for name in names if self._asked.get(name, since) <= since]

    def note(self, names: Iterable[str]) -> None:
        """Note that these copies are stored as of now."""
        self._asked.update(dict.fromkeys(names, time.monotonic()))
