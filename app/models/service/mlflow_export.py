"""A version in MLflow's registry, over its REST API: a registered model for each role, a model version, and tags.

MLflow shows it; nothing is read back. The names of calls and fields are those of MLflow 2 and 3 (`/api/2.0/mlflow`).
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import aiohttp

from app.domain.errors import InvalidInput, Unavailable
from app.domain.model_versions import ModelVersion
from app.models.service.card import render_card
from app.models.service.registry import VersionDetail
from app.outgoing.way_out import find_proxy, make_tls

LIMIT = timedelta(seconds=30)
API = "/api/2.0/mlflow/"
EXISTS = "RESOURCE_ALREADY_EXISTS"
OURS = "rubrica.version"
"""The tag by which a version of ours is found again."""
PAGE = 200
MOST_CHARS = 5_000
"""The longest text of a tag or a description that MLflow takes everywhere."""


async def export_version(address: str, token: str, detail: VersionDetail) -> str:
    """Bring a version into the MLflow server at `address`; sent again, its tags are brought up to date.

    Returns its name there and its number. `token` is a bearer token; empty for none.

    Raises:
        InvalidInput: MLflow refuses; the message is its own.
        Unavailable: it does not answer.
    """
    version, name = detail.version, f"rubrica-{detail.version.role}"
    tags = _tags_of(version)
    async with _open(address, token) as mlflow:
        about = f"Models of Rubrica for the {version.role}"
        await mlflow.call("registered-models/create", {"name": name, "description": about}, forgive=EXISTS)
        number = await _find(mlflow, name, str(version.id))
        card = render_card(detail)[:MOST_CHARS]
        if number is None:
            wanted = {"name": name, "source": f"rubrica:/{version.artifact}", "description": card}
            made = await mlflow.call("model-versions/create", {**wanted, "tags": _list_pairs(tags)})
            number = str(made["model_version"]["version"])
        else:
            await mlflow.call("model-versions/update", {"name": name, "version": number, "description": card}, method="PATCH")
            for tag in _list_pairs(tags):
                await mlflow.call("model-versions/set-tag", {"name": name, "version": number, **tag})
    return f"{name} {number}"


def _tags_of(version: ModelVersion) -> dict[str, str]:
    told = {
        "version": str(version.id),
        "name": version.name,
        "state": version.state.value,
        "recipe": version.recipe,
        "base": version.base,
        "licence": version.licence,
        "notation": version.notation,
        "artifact": version.artifact,
        "parent": str(version.parent or ""),
        "rows": str(sum(each.rows for each in version.sets)),
    }
    return {f"rubrica.{key}": value[:MOST_CHARS] for key, value in told.items() if value}


def _list_pairs(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"key": key, "value": value} for key, value in tags.items()]


async def _find(mlflow: "_Mlflow", name: str, version: str) -> str | None:
    """Return the number under which MLflow has a version of ours; None if it has not."""
    wanted, token = f"name = '{name}'", ""
    while True:
        asked = {"filter": wanted, "max_results": PAGE, **({"page_token": token} if token else {})}
        page = await mlflow.call("model-versions/search", asked, method="GET")
        for each in page.get("model_versions", ()):
            if {"key": OURS, "value": version} in each.get("tags", ()):
                return str(each["version"])
        token = page.get("next_page_token", "")
        if not token:
            return None


class _Mlflow:
    """A connection to the REST API."""

    def __init__(self, session: aiohttp.ClientSession, address: str) -> None:
        self._session = session
        self._address = address.rstrip("/") + API

    async def call(self, what: str, told: Mapping[str, Any], method: str = "POST", forgive: str = "") -> dict[str, Any]:
        """Return the answer to a call. A refusal with the code `forgive` is no failure."""
        params, body = (told, None) if method == "GET" else (None, told)
        try:
            url = self._address + what
            async with self._session.request(method, url, params=params, json=body, proxy=find_proxy(url)) as reply:
                answer: dict[str, Any] = await reply.json(content_type=None)
                status = reply.status
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise Unavailable(
                f"MLflow at {self._address} does not answer as it should: {error or type(error).__name__}"
            ) from error
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unavailable(f"MLflow answers {status} to {what}: {_explain(answer)}")
        if status >= HTTPStatus.BAD_REQUEST and not (forgive and answer.get("error_code") == forgive):
            raise InvalidInput(f"MLflow refuses {what} ({status}): {_explain(answer)}")
        return answer


def _explain(answer: Mapping[str, Any]) -> str:
    return str(answer.get("message") or answer)[:500]


@asynccontextmanager
async def _open(address: str, token: str) -> AsyncIterator[_Mlflow]:
    limit = aiohttp.ClientTimeout(total=LIMIT.total_seconds())
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connector = aiohttp.TCPConnector(ssl=make_tls())
    async with aiohttp.ClientSession(timeout=limit, headers=headers, connector=connector) as session:
        yield _Mlflow(session, address)
