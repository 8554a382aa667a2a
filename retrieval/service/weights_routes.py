"""The route for the cross-encoder, which only the index owner has in memory.

`POST /entail {"pairs": [[premise, hypothesis], ...]}` -> `{"pairs": [[entailed, contradicted], ...]}`. 500
where no model is named.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from aiohttp import web

from app.domain.errors import InvalidInput, ToolError
from retrieval.service.json_http import answer_json, read_body

MOST_PAIRS = 256
Entails: TypeAlias = Callable[[Sequence[tuple[str, str]]], list[tuple[float, float]]]


def add_weights_routes(app: web.Application, entails: Entails | None) -> None:
    """Add the route; `entails` is None where no model of inference is named."""

    async def entail(request: web.Request) -> web.Response:
        pairs = _require_pairs((await read_body(request)).get("pairs"))
        if entails is None:
            raise ToolError("no model of inference is named; set RUBRICA_NLI_MODEL")
        return answer_json({"pairs": await asyncio.to_thread(entails, pairs)})

    app.router.add_post("/entail", entail)


def _require_pairs(value: Any) -> list[tuple[str, str]]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_PAIRS:
        raise InvalidInput(f"expected a list of 1 to {MOST_PAIRS}")
    return [_require_pair(pair) for pair in value]


def _require_pair(value: Any) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(text, str) and text.strip() for text in value):
        raise InvalidInput("each of 'pairs' is a premise and a hypothesis, which are not empty")
    return value[0], value[1]
