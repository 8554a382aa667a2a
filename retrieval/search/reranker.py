"""An optional reranker: it sorts found passages with a model that reads each one together with the query."""

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Protocol

from pydantic import SecretStr

from app.domain.errors import SetupError, ToolError
from app.domain.evidence import Passage
from app.domain.value import Value
from app.outgoing.way_out import address_of
from retrieval.encoding.endpoint import SEARCH_PATIENCE, EndpointPatience, JsonEndpoint

MAX_TOKENS = 512


class RerankerSettings(Value):
    """The settings of a reranker: the model (hub name or folder), and its server (`url` ends in `/v1`; None: this process)."""

    model: str
    url: str | None = None
    api_key: SecretStr | None = None


class Reranker(Protocol):
    """A judge of passages. Threads may share it.

    Raises:
        ToolError: the model cannot be loaded, or the server does not answer.
    """

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Score how well each text answers the query, in the order of `texts`; higher is better, on any scale."""
        ...


class CrossEncoderReranker:
    """A cross-encoder, loaded by sentence-transformers at the first call."""

    def __init__(self, model: str) -> None:
        self._name = model
        self._model: Any = None
        self._lock = threading.Lock()

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """See `Reranker.score`."""
        with self._lock:  # one at a time, because one model already uses all cores
            if self._model is None:
                self._model = _load_cross_encoder(self._name)
            return [float(score) for score in self._model.predict([(query, text) for text in texts], show_progress_bar=False)]


def _load_cross_encoder(name: str) -> Any:
    from sentence_transformers import CrossEncoder

    try:
        return CrossEncoder(name, max_length=MAX_TOKENS)
    except (OSError, ValueError) as error:
        raise ToolError(f"the reranker {name!r} cannot be loaded: {error}") from error


class EndpointReranker:
    """A reranker on a server with a `/v1/rerank`, such as vLLM, Jina and Cohere."""

    def __init__(self, url: str, model: str, api_key: str | None = None, patience: EndpointPatience = SEARCH_PATIENCE) -> None:
        self._endpoint = JsonEndpoint(address_of(url, "rerank"), api_key)
        self._model = model
        self._patience = patience

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """See `Reranker.score`."""
        answer = self._endpoint.ask({"model": self._model, "query": query, "documents": list(texts)}, self._patience)
        try:
            found = {int(entry["index"]): float(entry["relevance_score"]) for entry in answer["results"]}
            return [found[number] for number in range(len(texts))]
        except (KeyError, TypeError, ValueError) as error:
            raise ToolError(f"{self._endpoint.url} does not answer with one score a text ({error!r})") from error


def open_reranker(wanted: RerankerSettings | None) -> Reranker | None:
    """Make the reranker that the settings name, if any, without loading a model or asking a server.

    Raises:
        SetupError: it runs in this process, and sentence-transformers is not installed.
    """
    if wanted is None:
        return None
    if wanted.url is None and find_spec("sentence_transformers") is None:
        raise SetupError("RUBRICA_RERANKER needs `.venv/bin/pip install 'rubrica[torch]'`, or RUBRICA_RERANKER_URL")
    if wanted.url is None:
        return CrossEncoderReranker(wanted.model)
    return EndpointReranker(wanted.url, wanted.model, wanted.api_key.get_secret_value() if wanted.api_key else None)


def rerank(reranker: Reranker, query: str, passages: Sequence[Passage]) -> list[Passage]:
    """Sort passages by the reranker, and give them the search's scores, highest first, so that other passages follow them."""
    judged = reranker.score(query, [passage.text for passage in passages]) if passages else []
    order = sorted(range(len(passages)), key=lambda number: -judged[number])
    marks = sorted((passage.score for passage in passages), reverse=True)
    return [passages[number].model_copy(update={"score": mark}) for number, mark in zip(order, marks, strict=True)]
