"""Know the connections on which the server waits for a client: with half a request, or with none at all.

They cost a stranger nothing and the server a file each. When one sender has too many unfinished requests, or all connections are
taken, the one that has waited longest is closed: a request that comes at a normal pace is whole within milliseconds, and is
never the oldest.
"""

from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Protocol


class Waiting(Protocol):
    """A connection on which the server waits."""

    def cut_one_of_many(self) -> None:
        """Close it: its sender has too many unfinished requests."""
        ...

    def cut_to_make_room(self) -> None:
        """Close it: there are too many connections in all."""
        ...


class HalfRequests:
    """The waiting connections of one process, those that wait longest first. Each sender has `most` unfinished requests."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._half: dict[Waiting, str | None] = {}
        self._half_of: dict[str, dict[Waiting, None]] = {}
        self._idle: dict[Waiting, None] = {}

    def note_half(self, connection: Waiting, sender: str | None) -> None:
        """Note that a request has begun and is not whole. Without a `sender` it is nobody's: this machine's, or a proxy's."""
        self.forget(connection)
        self._half[connection] = sender
        if sender is None:
            return
        others = self._half_of.setdefault(sender, {})
        others[connection] = None
        if len(others) > self._most:
            next(iter(others)).cut_one_of_many()

    def note_idle(self, connection: Waiting) -> None:
        """Note that the last request was answered and the next has not begun."""
        self._idle[connection] = None

    def forget_idle(self, connection: Waiting) -> None:
        """Note that something comes from an idle connection. Safe to repeat."""
        self._idle.pop(connection, None)

    def forget(self, connection: Waiting) -> None:
        """Note that the server does not wait for this client any more. Safe to repeat."""
        self.forget_idle(connection)
        sender = self._half.pop(connection, None)
        if sender is not None:
            del self._half_of[sender][connection]
            if not self._half_of[sender]:
                del self._half_of[sender]

    def make_room(self) -> bool:
        """Close the connection that is idle for longest, or else the oldest unfinished request; return False without one."""
        oldest = next(iter(self._idle), None) or next(iter(self._half), None)
        if oldest is None:
            return False
        self.forget(oldest)
        oldest.cut_to_make_room()
        return True


@lru_cache(4_096)
def sender_of(host: str) -> str | None:
    """Return what counts as one sender: an IPv4 address, an IPv6 network of 64 bits. None for this machine, which is many."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback:
        return None
    return str(address) if address.version == 4 else str(ip_network((int(address), 64), strict=False))
