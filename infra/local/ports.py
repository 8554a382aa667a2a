"""Choose free TCP ports for local servers, and remember them so that addresses stay the same from start to start."""

import asyncio
import json
import random
import socket
from collections.abc import Collection
from pathlib import Path

import psutil

from app.domain.errors import SetupError

LOOPBACK = "127.0.0.1"
# Below Linux's range for outgoing connections (32768 on), so that no client socket takes a remembered port.
_RANGE = range(20_000, 32_000)
_ATTEMPTS = 200


def is_free(port: int) -> bool:
    """Return whether a server can listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


async def is_listening(port: int) -> bool:
    """Return whether something listens on this loopback port."""
    try:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    writer.close()
    return True


async def is_listening_at(socket: Path) -> bool:
    """Return whether something listens on this Unix socket."""
    try:
        _, writer = await asyncio.open_unix_connection(socket)
    except OSError:
        return False
    writer.close()
    return True


def list_ports_of(pid: int) -> set[int]:
    """Return the TCP ports at which a process and its children listen; none when it has ended."""
    try:
        process = psutil.Process(pid)
        return {
            connection.laddr.port
            for each in (process, *process.children(recursive=True))
            for connection in each.net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN
        }
    except psutil.NoSuchProcess:
        return set()


def find_free_port() -> int:
    """Return a loopback port on which nothing listens.

    Raises:
        SetupError: 200 tries found none.
    """
    for _ in range(_ATTEMPTS):
        port = random.choice(_RANGE)
        if is_free(port):
            return port
    raise SetupError(f"no free port between {_RANGE.start} and {_RANGE.stop} on {LOOPBACK}; stop some local servers")


class PortClaims:
    """The ports on which servers of this process will listen: another stack that starts at the same moment takes others.

    A claim is the UDP port of the same number. The kernel gives it to one process, and frees it when that one ends.
    """

    def __init__(self) -> None:
        self._held: list[socket.socket] = []

    def claim(self, port: int) -> bool:
        """Claim a port. Return False when it is claimed already."""
        claim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            claim.bind((LOOPBACK, port))
        except OSError:
            claim.close()
            return False
        self._held.append(claim)
        return True

    def release(self) -> None:
        """Give up all claims. Safe to repeat."""
        while self._held:
            self._held.pop().close()


class PortBook:
    """A small JSON file that remembers which server had which port. It gives no port twice, and none that is `taken`.

    With `claims`, no other stack is given the port either, before anything listens there.
    """

    def __init__(self, path: Path, taken: Collection[int] = (), claims: PortClaims | None = None) -> None:
        self._path = path
        # Those given out count too: a server listens only later.
        self._taken = set(taken)
        self._claims = claims

    def choose_port(self, name: str, preferred: int | None = None) -> int:
        """Return and remember the first free port of: the one that `name` had last time, the preferred one, a random one."""
        book = self._read()
        for candidate in (book.get(name), preferred):
            if candidate is not None and candidate not in self._taken and is_free(candidate) and self._claim(candidate):
                port = candidate
                break
        else:
            while (port := find_free_port()) in self._taken or not self._claim(port):
                pass
        self._taken.add(port)
        if book.get(name) != port:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(book | {name: port}))
        return port

    def require_port(self, number: int, setting: str) -> int:
        """Return the port that a setting names.

        Raises:
            SetupError: another program listens there, or another stack is about to.
        """
        if not is_free(number) or not self._claim(number):
            raise SetupError(f"port {number} is in use by another program; stop it, or choose another port with {setting}")
        return number

    def _claim(self, port: int) -> bool:
        return self._claims is None or self._claims.claim(port)

    def _read(self) -> dict[str, int]:
        try:
            content = json.loads(self._path.read_text())
        except (FileNotFoundError, ValueError):
            # A lost file only means new port numbers.
            return {}
        return {k: v for k, v in content.items() if isinstance(v, int)} if isinstance(content, dict) else {}
