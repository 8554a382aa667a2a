"""The list of models that a server gives."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import aiohttp
import orjson

from app.domain.errors import ModelUnavailable
from app.outgoing.way_out import address_of, describe_way, make_tls
from workflows.chat_models.endpoint import ModelEndpoint

LIMIT = timedelta(seconds=4)
MOST_BYTES = 4_000_000


async def read_model_list(endpoint: ModelEndpoint) -> Sequence[Mapping[str, Any]]:
    """Ask a server once for its models, and return them as it describes them; each has its `id`.

    Raises:
        ModelUnavailable: nobody answers, or something that is no list of models.
    """
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
        return [model for model in told["data"] if "id" in model]
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise ModelUnavailable(f"no answer from {describe_way(url)}: {error or 'it took too long'}") from error
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise ModelUnavailable(f"{describe_way(url)} gives no list of models") from error
