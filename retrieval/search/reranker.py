"""Put passages that a search found in a better order, with a model that reads each one together with the query. Optional."""

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Protocol

from pydantic import SecretStr

from app.domain.errors import SetupError, ToolError
from app.domain.evidence import Passage
from app.domain.value import Value
from retrieval.encoding.endpoint import A_SEARCH, Endpoint, Patience

MAX_TOKENS = 512


class Reranking(Value):
    """The model (a hub name or a folder), and the server that runs it (`url` ends in `/v1`), None for this process."""

    model: str
    url: str | None = None
    api_key: SecretStr | None = None


class Reranker(Protocol):
    """Judges passages. Safe to share by threads.

    Raises:
        ToolError: the model cannot be loaded, or the server does not answer.
    """

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """How well each text answers the query, in the order of `texts`; higher is better, on any scale."""
        ...


class CrossEncoderReranker:
    """A cross-encoder through sentence-transformers, loaded when it is first asked."""

    def __init__(self, model: str) -> None:
        self._name = model
        self._model: Any = None
        self._lock = threading.Lock()

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """See `Reranker.scores`."""
        with self._lock:  # one at a time: a model of this size takes all cores anyway
            if self._model is None:
                self._model = _cross_encoder(self._name)
            return [float(score) for score in self._model.predict([(query, text) for text in texts], show_progress_bar=False)]


def _cross_encoder(name: str) -> Any:
    from sentence_transformers import CrossEncoder

    try:
        return CrossEncoder(name, max_length=MAX_TOKENS)
    except (OSError, ValueError) as error:
        raise ToolError(f"the reranker {name!r} cannot be loaded: {error}") from error


class EndpointReranker:
    """A server with a `/v1/rerank`, as vLLM, Jina and Cohere have."""

    def __init__(self, url: str, model: str, api_key: str | None = None, patience: Patience = A_SEARCH) -> None:
        self._endpoint = Endpoint(f"{url}/rerank", api_key)
        self._model = model
        self._patience = patience

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """See `Reranker.scores`."""
        answer = self._endpoint.ask({"model": self._model, "query": query, "documents": list(texts)}, self._patience)
        try:
            found = {int(entry["index"]): float(entry["relevance_score"]) for entry in answer["results"]}
            return [found[number] for number in range(len(texts))]
        except (KeyError, TypeError, ValueError) as error:
            raise ToolError(f"{self._endpoint.url} does not answer with one score a text ({error!r})") from error


def open_reranker(wanted: Reranking | None) -> Reranker | None:
    """The reranker that the settings name, if any; nothing is loaded or asked yet.

    Raises:
        SetupError: it is to run in this process, and sentence-transformers is not installed.
    """
    if wanted is None:
        return None
    if wanted.url is None and find_spec("sentence_transformers") is None:
        raise SetupError("RUBRICA_RERANKER needs `.venv/bin/pip install 'rubrica[torch]'`, or RUBRICA_RERANKER_URL")
    if wanted.url is None:
        return CrossEncoderReranker(wanted.model)
    return EndpointReranker(wanted.url, wanted.model, wanted.api_key.get_secret_value() if wanted.api_key else None)


def reranked(reranker: Reranker, query: str, passages: Sequence[Passage]) -> list[Passage]:
    """The passages in the reranker's order; the search's scores are dealt out anew, highest first: others continue behind."""
    judged = reranker.scores(query, [passage.text for passage in passages]) if passages else []
    order = sorted(range(len(passages)), key=lambda number: -judged[number])
    marks = sorted((passage.score for passage in passages), reverse=True)
    return [passages[number].model_copy(update={"score": mark}) for number, mark in zip(order, marks, strict=True)]
