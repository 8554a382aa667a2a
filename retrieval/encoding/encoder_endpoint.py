"""Dense vectors from a server with an OpenAI-style `/v1/embeddings`: vLLM, a text-embedding server, or a hosted one.

Servers differ in how many texts, and how long ones, they take at once, and say so in words of their own. So a refused batch is
halved, and a refused text is cut, until the server answers.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from app.domain.errors import ToolError
from app.domain.value import Value
from app.outgoing.way_out import address_of
from retrieval.encoding.endpoint import BUILD_PATIENCE, SEARCH_PATIENCE, EndpointPatience, JsonEndpoint, RequestRefused

BATCH = 64
"""The most texts of one request. Several requests are under way at once, so that the server always has work."""
MOST_ERRORS = 2
"""The internal errors of a server after which they count as its answer to these texts: it has no vector for one, or NaN."""
SHORTEST_CHARS = 40
PROBE = "size"
SHOWN_CHARS = 60
AT_ONCE = 4
KEPT_QUERIES = 2_048
Vectors = NDArray[np.float32]
log = logging.getLogger(__name__)


class EmbeddingsServer(Value):
    """The address of a server (`url` ends in `/v1`), and the model to ask for."""

    url: str
    model: str
    api_key: SecretStr | None = None


class EndpointEncoder:
    """An encoder that asks `server`. Its construction asks once, to learn the size of the vectors.

    A text that the server does not take is cut; one of which no part has a vector gets zeros, which are near to nothing, so that
    words alone find it. Both are named in the log.

    The constructor and the methods raise:
        ToolError: the server does not answer, or not with finite vectors of the known size, also for a plain word.
    """

    def __init__(
        self, server: EmbeddingsServer, search: EndpointPatience = SEARCH_PATIENCE, build: EndpointPatience = BUILD_PATIENCE
    ) -> None:
        key = server.api_key.get_secret_value() if server.api_key else None
        self._endpoint = JsonEndpoint(address_of(server.url, "embeddings"), key)
        self._model = server.model
        self._search, self._build = search, build
        self._recent = lru_cache(KEPT_QUERIES)(self._encode_query)
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="embeddings")
        self._most, self._odd = BATCH, 0
        self.size = 0
        self.size = len(self._ask_plain(search))

    @property
    def name(self) -> str:
        """The model and the size of its vectors; a change of either needs another index."""
        return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', self._model)}-{self.size}"

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in order."""
        if not texts:
            return np.empty((0, self.size), np.float32)
        parts = [texts[first : first + self._most] for first in range(0, len(texts), self._most)]
        rows = [row for part in self._pool.map(lambda part: self._encode(part, self._build), parts) for row in part]
        return np.stack([np.zeros(self.size, np.float32) if row is None else row for row in rows])

    def encode_query(self, text: str) -> list[float]:
        """Return a query's vector: zeros where the server has none for it."""
        row = self._recent(text)
        return [0.0] * self.size if row is None else list(row.tolist())

    def can_read(self, _: str) -> bool:
        """Say whether the model knows the language: always, since the operator chooses a model for the corpus."""
        return True

    def _encode_query(self, text: str) -> Vectors | None:
        return self._encode([text], self._search)[0]

    def _encode(self, texts: Sequence[str], patience: EndpointPatience) -> list[Vectors | None]:
        """Return a row for each text, None for one without a vector. Remember how many texts the server takes at once."""
        most, odd = self._most, self._odd
        rows = self._ask(texts, patience) if len(texts) <= most else None
        if rows is None and len(texts) > 1:
            half = min((len(texts) + 1) // 2, most)
            rows = self._encode(texts[:half], patience) + self._encode(texts[half:], patience)
            if len(texts) <= most and odd == self._odd:  # no text was odd, so there were too many
                self._most = min(self._most, half)
            return rows
        rows = [None] if rows is None else rows
        return [self._encode_cut(text, patience) if row is None else row for text, row in zip(texts, rows, strict=True)]

    def _encode_cut(self, text: str, patience: EndpointPatience) -> Vectors | None:
        """Return the vector of the longest part of a text, at its beginning or its end, that the server takes."""
        self._odd += 1
        self._ask_plain(patience)
        for part in _list_parts(text):
            rows = self._ask([part], patience)
            if rows and rows[0] is not None:
                if part != text:
                    log.warning("%s is encoded by %d of its %d characters", _show(text), len(part), len(text))
                return rows[0]
        log.warning("%s is found by its words alone: the model has no vector for it", _show(text))
        return None

    def _ask(self, texts: Sequence[str], patience: EndpointPatience) -> list[Vectors | None] | None:
        """Return a row for each text, None for each that has no vector; or None when the server refuses these texts."""
        try:
            answer = self._endpoint.ask({"model": self._model, "input": list(texts)}, patience, MOST_ERRORS)
            return [self._read_or_none(raw) for raw in self._list_raw(answer, len(texts))]
        except RequestRefused as error:
            log.info("%d texts are not encoded at once: %s", len(texts), error)
            return None

    def _ask_plain(self, patience: EndpointPatience) -> Vectors:
        """Return the vector of a plain word. A server that has none for it is wrong or away, whatever the texts."""
        answer = self._endpoint.ask({"model": self._model, "input": [PROBE]}, patience)
        return self._read_vector(self._list_raw(answer, 1)[0])

    def _list_raw(self, answer: Any, count: int) -> list[Any]:
        """Return the vectors of an answer as they are, None for each that is missing. Entries without `index` are in order."""
        try:
            entries = [entry for entry in answer["data"] if isinstance(entry, dict)]
            numbers = [place if entry.get("index") is None else int(entry["index"]) for place, entry in enumerate(entries)]
        except (KeyError, TypeError, ValueError) as error:
            raise RequestRefused(f"{self._endpoint.url} does not answer with one vector a text ({error!r})") from error
        rows = {number: entry.get("embedding") for number, entry in zip(numbers, entries, strict=True)}
        return [rows.get(number) for number in range(count)]

    def _read_or_none(self, raw: Any) -> Vectors | None:
        try:
            return self._read_vector(raw)
        except ToolError:
            return None  # `_ask_plain` finds out whether the text or the server is odd

    def _read_vector(self, raw: Any) -> Vectors:
        """Check a vector and scale it to unit length. Vectors of another size must not reach the index."""
        if not isinstance(raw, list):
            raise ToolError(f"{self._endpoint.url} does not answer with one vector a text")
        try:
            vector: Vectors = np.array(raw, np.float32)
        except (TypeError, ValueError, OverflowError) as error:
            raise ToolError(f"{self._endpoint.url} answers with vectors that are no numbers ({error})") from error
        if vector.ndim != 1 or not np.isfinite(vector).all() or not (length := np.linalg.norm(vector)):
            raise ToolError(f"{self._endpoint.url} answers with vectors that are empty, infinite or zero")
        if self.size and len(vector) != self.size:
            raise ToolError(f"{self._endpoint.url} answers with {len(vector)} dimensions, and had {self.size} before")
        unit: Vectors = vector / length
        return unit


def _list_parts(text: str) -> Iterator[str]:
    """Yield a text once more, then shorter and shorter beginnings and ends of it."""
    yield text
    length = len(text) // 2
    while length >= SHORTEST_CHARS:
        yield text[:length]
        yield text[-length:]
        length //= 2


def _show(text: str) -> str:
    return repr(text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}...")
