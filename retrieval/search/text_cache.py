"""A cache of recently read snapshots, bounded by their size, so that one huge document cannot fill the memory."""

import threading
from collections import OrderedDict
from collections.abc import Callable

MAX_CHARS = 32_000_000


class TextCache:
    """A cache of texts by name that drops the least recently used. `load` reads a missing one; its errors pass through."""

    def __init__(self, load: Callable[[str], str]) -> None:
        self._load = load
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._chars = 0
        self._lock = threading.Lock()

    def clear(self) -> None:
        """Drop every text."""
        with self._lock:
            self._texts.clear()
            self._chars = 0

    def get(self, name: str) -> str:
        """Return the text of this name."""
        with self._lock:
            found = self._texts.get(name)
            if found is not None:
                self._texts.move_to_end(name)
                return found
        text = self._load(name)
        with self._lock:
            if name not in self._texts:
                self._texts[name] = text
                self._chars += len(text)
            while self._chars > MAX_CHARS and len(self._texts) > 1:
                self._chars -= len(self._texts.popitem(last=False)[1])
        return text
