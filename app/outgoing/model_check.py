"""Ask the language model's server whether it takes requests at all, before a run is paid for."""

import asyncio
import re
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import orjson

from app.domain.errors import Conflict
from app.outgoing.model_accounts import TOP_UP, is_account_empty
from app.outgoing.retry_after import read_retry_after
from app.outgoing.way_out import address_of, find_proxy, hide_login, make_tls
from app.settings import Settings

if TYPE_CHECKING:
    import aiohttp

LIMIT = timedelta(seconds=4)
ACCEPTED_FOR, REFUSED_FOR = timedelta(minutes=10), timedelta(seconds=5)
"""How long an answer holds: a refusal only briefly, because somebody is about to put it right."""
SHOWN_CHARS = 200
READ_BYTES = 4_000
KEY, PATH = frozenset({401, 403}), frozenset({404, 405})
_NO_MODEL = re.compile(r"model_not_found|model.{0,100}?(not found|not exist|n't exist)|(no such|unknown) model", re.I | re.S)
_CHECK_PATH = "check RUBRICA_LLM_MODEL and RUBRICA_LLM_BASE_URL, which mostly ends in /v1"


class ModelCheck:
    """Finds out, and remembers for a while, whether a model refuses every request.

    A server without a key is asked for the models that it lists. Else one token is asked for: many servers list their models to
    everybody, whatever the key.
    """

    def __init__(self, base_url: str, model: str, key: str = "") -> None:
        self._url = base_url
        self._model = model
        self._key = key
        self._lock = asyncio.Lock()
        self._refusal = ""
        self._holds_until = 0.0

    @classmethod
    def of(cls, settings: Settings) -> "ModelCheck | None":
        """Return the check of the configured model; None without one."""
        if settings.llm_base_url is None or settings.llm_model is None:
            return None
        key = settings.llm_api_key
        return cls(settings.llm_base_url, settings.llm_model, key.get_secret_value() if key else "")

    async def require_accepted(self) -> None:
        """Return if the model takes requests, or cannot be asked just now: a run waits for a server that is away.

        Raises:
            Conflict: it refuses the key, finds its account used up, has no such model, or does not answer at this address.
        """
        if refusal := await self.find_refusal():
            raise Conflict(f"nothing was started: {refusal}")

    async def find_refusal(self) -> str:
        """Return why the model refuses every request; empty if it does not, or cannot be asked just now."""
        async with self._lock:
            if time.monotonic() >= self._holds_until:
                self._refusal = await self._ask()
                holds = REFUSED_FOR if self._refusal else ACCEPTED_FOR
                self._holds_until = time.monotonic() + holds.total_seconds()
            return self._refusal

    async def _ask(self) -> str:
        import aiohttp  # loaded with the first question

        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        limit = aiohttp.ClientTimeout(total=LIMIT.total_seconds())
        try:
            async with aiohttp.ClientSession(
                timeout=limit, headers=headers, connector=aiohttp.TCPConnector(ssl=make_tls())
            ) as session:
                if not self._key and await self._is_listed(session):
                    return ""
                one = {"model": self._model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
                url = address_of(self._url, "chat/completions")
                async with session.post(url, json=one, proxy=find_proxy(url), allow_redirects=False) as answer:
                    wish = read_retry_after(answer.headers)
                    return self._read_refusal(answer.status, await answer.content.read(READ_BYTES), wish)
        except (aiohttp.ClientError, TimeoutError):
            return ""

    async def _is_listed(self, session: "aiohttp.ClientSession") -> bool:
        url = address_of(self._url, "models")
        async with session.get(url, proxy=find_proxy(url), allow_redirects=False) as answer:
            try:
                return answer.status == 200 and any(m["id"] == self._model for m in orjson.loads(await answer.read())["data"])
            except (orjson.JSONDecodeError, KeyError, TypeError):
                return False

    def _read_refusal(self, status: int, body: bytes, wish: timedelta | None) -> str:
        said = _read_reason(body)
        advice = _find_advice(status, said, body) if wish is None else ""
        proxy = f", or the proxy {hide_login(named)} refuses it" if (named := find_proxy(self._url)) else ""
        told = f"the language model {self._model!r} refuses every request (HTTP {status}: {said[:SHOWN_CHARS]}); {advice}{proxy}"
        return told if advice else ""


def _find_advice(status: int, said: str, body: bytes) -> str:
    """Return what to do about an answer that each request will get; empty if others may be answered."""
    if is_account_empty(status, said):
        return TOP_UP
    page = status == 200 and body.lstrip()[:1] == b"<"
    if page or status in PATH or (status in (400, 422) and _NO_MODEL.search(said)):
        return _CHECK_PATH
    if 300 <= status < 400:
        return "it sends elsewhere: set RUBRICA_LLM_BASE_URL to the final address"
    return "check RUBRICA_LLM_API_KEY" if status in KEY else ""


def _read_reason(body: bytes) -> str:
    """Return what a server says of its refusal, in JSON or as a page, on one line."""
    try:
        said = orjson.loads(body)["error"]
        text = f"{said['message']} {said.get('code') or ''}" if isinstance(said, dict) else str(said)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        text = re.sub(r"<[^>]*>", " ", body.decode("utf-8", "replace"))
    return " ".join(text.split())
