"""How long a model's context is, as far as its server tells it in its list of models."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import aiohttp
import orjson

from app.outgoing.way_out import address_of, make_tls
from workflows.chat_models.endpoint import ModelEndpoint

LIMIT = timedelta(seconds=4)
MOST_BYTES = 4_000_000
FIELDS = ("max_model_len", "context_length", "context_window", "max_context_length")
"""What servers call it: vLLM and SGLang; OpenRouter and Together; Groq; Mistral and LM Studio."""
log = logging.getLogger(__name__)


async def find_context_tokens(endpoint: ModelEndpoint) -> int:
    """Return the tokens of the model's context; 0 where its server does not tell, or cannot be asked now."""
    timeout = aiohttp.ClientTimeout(total=LIMIT.total_seconds())
    url = address_of(endpoint.base_url, "models")
    try:
        async with (
            aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=make_tls()), timeout=timeout, headers=endpoint.key_header
            ) as session,
            session.get(url, proxy=endpoint.proxy, allow_redirects=False) as answer,
        ):
            told = orjson.loads(await answer.content.read(MOST_BYTES))
        return next(_read_contexts(told["data"], endpoint.model), 0)
    except (aiohttp.ClientError, TimeoutError, orjson.JSONDecodeError, KeyError, TypeError) as error:
        log.info("%s does not tell the context of %s: %r", endpoint.way, endpoint.model, error)
        return 0


def _read_contexts(models: Iterable[Mapping[str, Any]], name: str) -> Iterator[int]:
    return (model[field] for model in models if model["id"] == name for field in FIELDS if isinstance(model.get(field), int))
