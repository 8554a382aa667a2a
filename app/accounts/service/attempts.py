"""Limit how often somebody may try a password or a token."""

import hashlib
from datetime import timedelta

from app.database.engine import Executor
from app.domain.errors import TooManyRequests
from app.domain.network import network_of
from app.quotas.storage import rates

# Limits of a network address; of an account from one address; of an account from anywhere. Attempts by strangers lock nobody out
# for long.
FROM_ADDRESS = (timedelta(seconds=2), 30)
ON_ACCOUNT_FROM_ADDRESS = (timedelta(seconds=12), 5)
ON_ACCOUNT = (timedelta(seconds=6), 50)


def digest_email(email: str) -> str:
    """Return the word for an e-mail address in the names of buckets, which nobody can read it from."""
    return hashlib.sha256(email.encode()).hexdigest()


class Attempts:
    """A counter of attempts, asked before anything is looked up.

    Raises:
        TooManyRequests: there were too many.
    """

    def __init__(self, trusted: Executor) -> None:
        self._trusted = trusted

    async def allow(self, address: str, account: str | None = None) -> None:
        """Allow one more attempt from a network address, on an account if there is one. Of IPv6, whole networks are counted."""
        await self._take(f"attempt from {network_of(address)}", *FROM_ADDRESS)
        if account:
            await self.allow_on(account, address)

    async def allow_on(self, account: str, address: str) -> None:
        """Allow an attempt that was allowed from its address to be one on an account."""
        named = digest_email(account)
        await self._take(f"attempt from {network_of(address)} on {named}", *ON_ACCOUNT_FROM_ADDRESS)
        await self._take(f"attempt on {named}", *ON_ACCOUNT)

    async def _take(self, subject: str, every: timedelta, burst: int) -> None:
        taken = await rates.take(self._trusted, subject, every, burst)
        if not taken.granted:
            raise TooManyRequests("too many attempts; wait a while and try again", taken.wait)
