"""Hash passwords with Argon2id. Hashing is slow on purpose: it runs in threads, a few at a time."""

import asyncio

from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

# OWASP's first choice for Argon2id: 46 MiB, one pass, one lane.
HASHER = PasswordHasher(time_cost=1, memory_cost=47_104, parallelism=1, hash_len=32, salt_len=16, type=Type.ID)
HASHES_AT_ONCE = 2


class Passwords:
    """A maker and checker of hashes. An unknown person costs as much time as a wrong password."""

    def __init__(self) -> None:
        self._room = asyncio.Semaphore(HASHES_AT_ONCE)
        self._nobodys: str | None = None

    async def hash(self, password: str) -> str:
        """Return a hash with its parameters and salt."""
        async with self._room:
            return await asyncio.to_thread(HASHER.hash, password)

    async def fits(self, stored: str | None, password: str) -> bool:
        """Return True when the password is the one that was hashed. Without a stored hash, no password fits."""
        if self._nobodys is None:
            self._nobodys = await self.hash("nobody has this password")
        async with self._room:
            fits = await asyncio.to_thread(_verify, stored or self._nobodys, password)
        return fits and stored is not None

    def is_dated(self, stored: str) -> bool:
        """Return True when the hash has other parameters than today's, so that the password is hashed anew."""
        return HASHER.check_needs_rehash(stored)


def _verify(stored: str, password: str) -> bool:
    try:
        return HASHER.verify(stored, password)
    except (VerifyMismatchError, VerificationError, InvalidHashError):
        return False
