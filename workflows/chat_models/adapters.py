"""Loading adapters at a model server that takes them while it runs, as vLLM does (`VLLM_ALLOW_RUNTIME_LORA_UPDATING`)."""

from http import HTTPStatus
from pathlib import Path

import aiohttp

from app.domain.errors import ModelUnavailable, ModelUnusable
from app.outgoing.way_out import address_of, describe_way, hide_login, make_tls
from workflows.chat_models.endpoint import ModelEndpoint

LOADED_ALREADY = "already been loaded"
SHOWN = 300


async def load_adapter(endpoint: ModelEndpoint, name: str, folder: Path) -> None:
    """Load an adapter under a name; one that is loaded already stays. The server reads the folder itself:
    `folder` is absolute.

    Raises:
        ModelUnavailable: the server does not answer.
        ModelUnusable: it does not take the adapter.
    """
    status, said = await _post(endpoint, "load_lora_adapter", {"lora_name": name, "lora_path": str(folder)})
    if status != HTTPStatus.OK and LOADED_ALREADY not in said:
        raise ModelUnusable(f"{hide_login(endpoint.base_url)} does not take the adapter {name}: {said[:SHOWN]}")


async def unload_adapter(endpoint: ModelEndpoint, name: str) -> bool:
    """Unload an adapter; False where the server has none of this name.

    Raises:
        ModelUnavailable: the server does not answer.
    """
    status, _ = await _post(endpoint, "unload_lora_adapter", {"lora_name": name})
    return status == HTTPStatus.OK


async def _post(endpoint: ModelEndpoint, what: str, body: dict[str, str]) -> tuple[int, str]:
    url = address_of(endpoint.base_url, what)
    try:
        async with (
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=make_tls()), headers=endpoint.key_header) as session,
            session.post(url, json=body, proxy=endpoint.proxy) as response,
        ):
            return response.status, await response.text()
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        raise ModelUnavailable(f"no answer from {describe_way(url)}: {error}") from error
