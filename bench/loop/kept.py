"""What a story has behind it, by name: told again in the same folder, it goes on from there."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from training.folders import replace_file


class Kept:
    """A file of JSON that grows by what was done."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {}

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def get(self, name: str) -> Any:
        """Return what came of something; None where it was not done."""
        return self._known.get(name)

    def keep(self, name: str, value: Any) -> Any:
        """Keep what came of something, before the next thing is begun."""
        self._known[name] = value
        replace_file(self._path, json.dumps(self._known).encode())
        return value

    async def once(self, name: str, do: Callable[[], Awaitable[Any]]) -> Any:
        """Do something that was not done to its end before; return what came of it, then or now."""
        return self._known[name] if name in self._known else self.keep(name, await do())
