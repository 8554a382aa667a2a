"""Answers that go on for long, and whose they are: one that its reader may no longer have is cut off."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from app.accounts.storage import credentials, sessions
from app.database.engine import Executor
from app.domain.errors import TooManyRequests, Unavailable

CHECK_EVERY = timedelta(seconds=2)
# Of one organisation in one process: each takes some 50 kB, and more while its reader does not read.
MOST_OF_ONE = 1_000
AGAIN = timedelta(seconds=10)

log = logging.getLogger(__name__)

# The id of a key, or the digest of a session's token.
Credential = UUID | bytes


@dataclass(eq=False)
class OpenStream:
    """One answer under way. `cut` says that its task was cancelled because its credential is good no more."""

    credential: Credential
    task: asyncio.Task[object]
    cut: bool = False


class OpenStreams:
    """The streams of this process. Who asks is found out when a request begins; these outlast that."""

    def __init__(self, trusted: Executor, most: int = MOST_OF_ONE) -> None:
        self._trusted = trusted
        self._most = most
        self._taken: Counter[UUID] = Counter()
        self._open: set[OpenStream] = set()

    @contextmanager
    def place(self, organisation: UUID) -> Iterator[None]:
        """One of the organisation's places, for as long as the context lasts. Who never reads holds his place.

        Raises:
            TooManyRequests: it has none left.
        """
        if self._taken[organisation] >= self._most:
            said = f"this organisation has {self._most} event streams open, which is as many as it may have; end one first"
            raise TooManyRequests(said, AGAIN)
        self._taken[organisation] += 1
        try:
            yield
        finally:
            self._taken[organisation] -= 1
            if not self._taken[organisation]:
                del self._taken[organisation]

    @contextmanager
    def one(self, stream: OpenStream) -> Iterator[None]:
        """The stream is among those for as long as the context lasts."""
        try:
            yield
        finally:
            self._open.discard(stream)

    def began(self, stream: OpenStream) -> None:
        """It has sent its first piece, and more will follow."""
        self._open.add(stream)

    async def keep(self) -> None:
        """Cut off what has to be, now and again, until cancelled."""
        while True:
            await asyncio.sleep(CHECK_EVERY.total_seconds())
            try:
                await self.check()
            except Unavailable as error:
                log.warning("whether streams may go on is not known: %s", error)

    async def check(self) -> None:
        """Cut off streams whose key was revoked or has expired, whose session ended, or whose person left."""
        keys = {stream.credential for stream in self._open if isinstance(stream.credential, UUID)}
        tokens = {stream.credential for stream in self._open if isinstance(stream.credential, bytes)}
        good: set[Credential] = set(await credentials.good(self._trusted, keys)) if keys else set()
        good |= set(await sessions.good(self._trusted, tokens)) if tokens else set()
        for stream in [stream for stream in self._open if stream.credential in (keys | tokens) - good]:
            stream.cut = True
            stream.task.cancel()
