"""Keep track of long answers and their readers: a stream is cut off when its reader's credential ends."""

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
# In one process: each stream takes some 50 kB, and more while its reader does not read. A person, with all keys, must
# not take all places of an organisation.
MAX_OF_ORGANISATION = 1_000
MAX_OF_PERSON = 250
RETRY_AFTER = timedelta(seconds=10)

log = logging.getLogger(__name__)

# The id of a key, or the digest of a session's token.
Credential = UUID | bytes


@dataclass(eq=False)
class OpenStream:
    """One answer under way. `cut` is set when its task is cancelled because its credential has ended."""

    credential: Credential
    task: asyncio.Task[object]
    cut: bool = False


class OpenStreams:
    """The open streams of this process. Credentials are checked when a request begins; streams outlast that check."""

    def __init__(self, trusted: Executor, most: int = MAX_OF_ORGANISATION, of_person: int = MAX_OF_PERSON) -> None:
        self._trusted = trusted
        self._most = most
        self._of_person = of_person
        # Of each organisation, and of each person in one.
        self._taken: Counter[UUID | tuple[UUID, UUID]] = Counter()
        self._open: set[OpenStream] = set()

    @contextmanager
    def hold_place(self, organisation: UUID, person: UUID) -> Iterator[None]:
        """Hold one of the person's and the organisation's places while the context lasts. Who never reads keeps the place.

        Raises:
            TooManyRequests: the person or the organisation has no place left.
        """
        reader = (organisation, person)
        if self._taken[reader] >= self._of_person:
            said = f"you have {self._of_person} event streams open, which is as many as a person may have; end one first"
            raise TooManyRequests(said, RETRY_AFTER)
        if self._taken[organisation] >= self._most:
            said = f"this organisation has {self._most} event streams open, which is as many as it may have; end one first"
            raise TooManyRequests(said, RETRY_AFTER)
        self._taken.update((organisation, reader))
        try:
            yield
        finally:
            self._taken.subtract((organisation, reader))
            for holder in (organisation, reader):
                if not self._taken[holder]:
                    del self._taken[holder]

    @contextmanager
    def track(self, stream: OpenStream) -> Iterator[None]:
        """Forget the stream when the context ends."""
        try:
            yield
        finally:
            self._open.discard(stream)

    def note_start(self, stream: OpenStream) -> None:
        """Note that the stream has sent its first piece, and more will follow."""
        self._open.add(stream)

    async def keep_checking(self) -> None:
        """Check the streams at regular intervals, until cancelled."""
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
        good: set[Credential] = set(await credentials.list_good(self._trusted, keys)) if keys else set()
        good |= set(await sessions.list_good(self._trusted, tokens)) if tokens else set()
        for stream in [stream for stream in self._open if stream.credential in (keys | tokens) - good]:
            stream.cut = True
            stream.task.cancel()
