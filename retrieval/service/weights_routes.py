"""The routes for models that only the index owner has in memory: vectors and entailment.

`POST /encode {"texts"}` -> `{"vectors"}`, unit vectors in order; `POST /entail {"pairs": [[premise, hypothesis], ...]}` ->
`{"pairs": [[entailed, contradicted], ...]}`. 500 where the weights are missing.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from aiohttp import web

from app.domain.errors import InvalidInput, ToolError
from retrieval.encoding.encoder import Encoder
from retrieval.encoding.recent_vectors import RecentVectors
from retrieval.service.json_http import answer_json, read_body

MOST_TEXTS = 256
Entails: TypeAlias = Callable[[Sequence[tuple[str, str]]], list[tuple[float, float]]]


def add_weights_routes(app: web.Application, encoder: Callable[[], Encoder | None], entails: Entails | None) -> None:
    """Add both routes; `entails` is None where no model of inference is named."""
    recent = RecentVectors()

    async def encode(request: web.Request) -> web.Response:
        texts = _require_texts((await read_body(request)).get("texts"))
        return answer_json({"vectors": await asyncio.to_thread(_encode, encoder, recent, texts)})

    async def entail(request: web.Request) -> web.Response:
        pairs = [_require_pair(pair) for pair in _require_list((await read_body(request)).get("pairs"))]
        if entails is None:
            raise ToolError("no model of inference is named; set RUBRICA_NLI_MODEL")
        return answer_json({"pairs": await asyncio.to_thread(entails, pairs)})

    app.router.add_post("/encode", encode)
    app.router.add_post("/entail", entail)


def _encode(opened: Callable[[], Encoder | None], recent: RecentVectors, texts: list[str]) -> list[list[float]]:
    encoder = opened()
    if encoder is None:
        raise ToolError("this index owner has no encoder")
    return [vector.tolist() for vector in recent.encode(encoder, texts)]


def _require_list(value: Any) -> list[Any]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_TEXTS:
        raise InvalidInput(f"expected a list of 1 to {MOST_TEXTS}")
    return value


def _require_texts(value: Any) -> list[str]:
    texts = _require_list(value)
    if not all(isinstance(text, str) and text.strip() for text in texts):
        raise InvalidInput("'texts' must be texts that are not empty")
    return texts


def _require_pair(value: Any) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidInput("each of 'pairs' is a premise and a hypothesis")
    premise, hypothesis = _require_texts(value)
    return premise, hypothesis
