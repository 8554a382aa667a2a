"""A cache of the vectors of recent texts. The next report on the same sources needs the same passages again."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

from retrieval.encoding.encoder import Encoder, Vectors

MOST = 4_096
"""The most stored vectors; one of 384 dimensions takes 1.5 KB."""


class RecentVectors:
    """A cache of vectors that encodes only missing texts and drops the least recently used. Threads may share it."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def encode(self, encoder: Encoder, texts: Sequence[str]) -> list[Vectors]:
        """Return the unit vector of each text, in order. The encoder's errors pass through, and nothing is stored then."""
        known = self._known(encoder.name, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        # Copies: a row of an array would keep the whole of it in memory.
        known |= {
            text: row.copy() for text, row in zip(missing, encoder.encode_passages(missing) if missing else (), strict=True)
        }
        self._keep(encoder.name, {text: known[text] for text in missing})
        return [known[text] for text in texts]

    def _known(self, encoder: str, texts: Sequence[str]) -> dict[str, Vectors]:
        with self._lock:
            found = {text: self._kept[encoder, text] for text in texts if (encoder, text) in self._kept}
            for text in found:
                self._kept.move_to_end((encoder, text))
        return found

    def _keep(self, encoder: str, fresh: dict[str, Vectors]) -> None:
        with self._lock:
            for text, vector in fresh.items():
                self._kept[encoder, text] = vector
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
