"""TCP ports of local servers: chosen free, remembered so that addresses stay the same from start to start."""

import asyncio
import json
import random
import socket
from pathlib import Path

from app.domain.errors import SetupError

LOOPBACK = "127.0.0.1"
# Below Linux's range for outgoing connections (32768 on), so that no client socket takes a remembered port.
_RANGE = range(20_000, 32_000)
_ATTEMPTS = 200


def is_free(port: int) -> bool:
    """True when a server could listen on this loopback port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


async def accepts(port: int) -> bool:
    """True when something listens on this loopback port."""
    try:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    writer.close()
    return True


def free_port() -> int:
    """A loopback port nobody listens on.

    Raises:
        SetupError: when 200 tries found none.
    """
    for _ in range(_ATTEMPTS):
        port = random.choice(_RANGE)
        if is_free(port):
            return port
    raise SetupError(f"no free port between {_RANGE.start} and {_RANGE.stop} on {LOOPBACK}; stop some local servers")


class PortBook:
    """Remembers which server had which port, in one small JSON file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def port(self, name: str, preferred: int | None = None) -> int:
        """The port `name` had last time, or the preferred one, or a random one: the first that is free, remembered."""
        book = self._read()
        for candidate in (book.get(name), preferred):
            if candidate is not None and is_free(candidate):
                port = candidate
                break
        else:
            port = free_port()
        if book.get(name) != port:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(book | {name: port}))
        return port

    def _read(self) -> dict[str, int]:
        try:
            content = json.loads(self._path.read_text())
        except (FileNotFoundError, ValueError):
            # Losing the file costs new port numbers, nothing else.
            return {}
        return {k: v for k, v in content.items() if isinstance(v, int)} if isinstance(content, dict) else {}


def required_port(number: int, setting: str) -> int:
    """`number` itself.

    Raises:
        SetupError: another program listens there.
    """
    if not is_free(number):
        raise SetupError(f"port {number} is in use by another program; stop it, or choose another port with {setting}")
    return number
