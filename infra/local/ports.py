"""Choose free TCP ports for local servers, and remember them so that addresses stay the same from start to start."""

import asyncio
import json
import random
import socket
from collections.abc import Collection
from pathlib import Path

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


class PortBook:
    """A small JSON file that remembers which server had which port. It gives no port twice, and none that is `taken`."""

    def __init__(self, path: Path, taken: Collection[int] = ()) -> None:
        self._path = path
        # Those given out count too: a server listens only later.
        self._taken = set(taken)

    def choose_port(self, name: str, preferred: int | None = None) -> int:
        """Return and remember the first free port of: the one that `name` had last time, the preferred one, a random one."""
        book = self._read()
        for candidate in (book.get(name), preferred):
            if candidate is not None and candidate not in self._taken and is_free(candidate):
                port = candidate
                break
        else:
            while (port := find_free_port()) in self._taken:
                pass
        self._taken.add(port)
        if book.get(name) != port:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(book | {name: port}))
        return port

    def _read(self) -> dict[str, int]:
        try:
            content = json.loads(self._path.read_text())
        except (FileNotFoundError, ValueError):
            # A lost file only means new port numbers.
            return {}
        return {k: v for k, v in content.items() if isinstance(v, int)} if isinstance(content, dict) else {}


def require_port(number: int, setting: str) -> int:
    """Return `number`.

    Raises:
        SetupError: another program listens on this port.
    """
    if not is_free(number):
        raise SetupError(f"port {number} is in use by another program; stop it, or choose another port with {setting}")
    return number
