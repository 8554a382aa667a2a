"""Dense vectors from a server with an OpenAI-style `/v1/embeddings`: vLLM, a text-embedding server, or a hosted one."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr

from app.domain.errors import ToolError
from app.domain.value import Value
from retrieval.encoding.endpoint import BUILD_PATIENCE, SEARCH_PATIENCE, EndpointPatience, JsonEndpoint

BATCH = 64
"""The texts of one request. Several requests are under way at once, so that the server always has work."""
AT_ONCE = 4
KEPT_QUERIES = 2_048
Vectors = NDArray[np.float32]


class EmbeddingsServer(Value):
    """The address of a server (`url` ends in `/v1`), and the model to ask for."""

    url: str
    model: str
    api_key: SecretStr | None = None


class EndpointEncoder:
    """An encoder that asks `server`. Its construction asks once, to learn the size of the vectors.

    The constructor and the methods raise:
        ToolError: the server does not answer, or not with one finite vector of the known size for each text.
    """

    def __init__(
        self, server: EmbeddingsServer, search: EndpointPatience = SEARCH_PATIENCE, build: EndpointPatience = BUILD_PATIENCE
    ) -> None:
        key = server.api_key.get_secret_value() if server.api_key else None
        self._endpoint = JsonEndpoint(f"{server.url}/embeddings", key)
        self._model = server.model
        self._search, self._build = search, build
        self._recent = lru_cache(KEPT_QUERIES)(self._encode_query)
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="embeddings")
        self.size = 0
        self.size = len(self._ask(["size"], search)[0])

    @property
    def name(self) -> str:
        """The model and the size of its vectors; a change of either needs another index."""
        return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', self._model)}-{self.size}"

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in order."""
        if not texts:
            return np.empty((0, self.size), np.float32)
        parts = [texts[first : first + BATCH] for first in range(0, len(texts), BATCH)]
        return np.concatenate(list(self._pool.map(lambda part: self._ask(part, self._build), parts)))

    def encode_query(self, text: str) -> list[float]:
        """Return a query's vector."""
        vector: list[float] = self._recent(text).tolist()
        return vector

    def can_read(self, _: str) -> bool:
        """Say whether the model knows the language: always, since the operator chooses a model for the corpus."""
        return True

    def _encode_query(self, text: str) -> Vectors:
        row: Vectors = self._ask([text], self._search)[0]
        return row

    def _ask(self, texts: Sequence[str], patience: EndpointPatience) -> Vectors:
        answer = self._endpoint.ask({"model": self._model, "input": list(texts)}, patience)
        try:
            rows = {int(entry["index"]): entry["embedding"] for entry in answer["data"]}
            vectors: Vectors = np.array([rows[number] for number in range(len(texts))], np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise ToolError(f"{self._endpoint.url} does not answer with one vector a text ({error!r})") from error
        return self._normalise(vectors)

    def _normalise(self, vectors: Any) -> Vectors:
        """Check the vectors and scale them to unit length. Vectors of another size must not reach the index."""
        if vectors.ndim != 2 or not np.isfinite(vectors).all() or not (lengths := np.linalg.norm(vectors, axis=1)).all():
            raise ToolError(f"{self._endpoint.url} answers with vectors that are empty, infinite or zero")
        if self.size and vectors.shape[1] != self.size:
            raise ToolError(f"{self._endpoint.url} answers with {vectors.shape[1]} dimensions, and had {self.size} before")
        unit: Vectors = vectors / lengths[:, None]
        return unit
