"""The meaning of a server's refusal: wait and ask again, ask shorter, or never ask again."""

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import orjson

from app.domain.errors import ContextTooLong, ModelError, ModelGone, ModelRefused, ModelUnavailable, ModelUnusable
from app.domain.safe_text import make_safe_line
from app.outgoing.model_accounts import TOP_UP, is_account_empty, says_account_empty
from app.outgoing.retry_after import read_retry_after, time_of
from workflows.chat_models.openai_dialect import FormRefused

SHOWN_CHARS = 400
TRANSIENT = frozenset({408, 409, 425, 429, 499})
NEVER = frozenset({501, 505})
WRONG_FORM = "json_validate_failed"
_TOO_LONG = re.compile(
    r"context.{0,20}(length|window|size|limit)|exceed_context|maximum context|prompt is too long|input is too long"
    r"|too many tokens|reduce the length|longer than the model|maximum number of tokens|max_new_tokens. must be",
    re.IGNORECASE | re.DOTALL,
)
_NO_MODEL = re.compile(
    r"model_not_found|\bmodel\b.{0,100}?(not found|not exist|n't exist|is not loaded)"
    r"|(no such|unknown) model|invalid model (name|id)",
    re.IGNORECASE | re.DOTALL,
)
_OF_FORM = re.compile(r"schema|grammar|response_format|structured|parameters|template|\brole", re.IGNORECASE)
"""What servers say of a form that they do not take where the status alone does not tell."""
_OVERLOADED = re.compile(r"overload|rate.?limit|too many requests|capacity|try again|temporar|unavailable|loading", re.IGNORECASE)


def error_from_status(status: int, headers: Mapping[str, str], raw: bytes, url: str) -> ModelError:
    """Return the error for a response that is not 200. `url` also names the proxy, if one leads there: it may be what refuses."""
    said, wish = read_reason(raw), _read_retry_wish(headers)
    proxy = url.partition(" through ")[2]
    message = f"the model server{f', through {proxy},' if proxy else ''} answered {status}: {said or 'no reason given'}"
    if status == 413 or (status in (400, 422, 500) and _TOO_LONG.search(f"{_read_code(raw)} {said}")):
        return ContextTooLong(message)
    if is_account_empty(status, f"{_read_code(raw)} {said}"):
        return ModelUnusable(f"{message}; {TOP_UP}") if wish is None else ModelUnavailable(message, wish)
    of_form = status in (400, 422, 501) or (status in (404, 500) and _OF_FORM.search(said))
    if status in TRANSIENT or (status >= 500 and status not in NEVER and not of_form):
        return ModelUnavailable(message, wish)
    if 300 <= status < 400:
        return ModelUnusable(f"{message}; {url} sends elsewhere: set RUBRICA_LLM_BASE_URL to the final address")
    no_model = status in (400, 404, 422) and _NO_MODEL.search(f"{_read_code(raw)} {said}")
    if no_model or (status in (404, 405) and not of_form):
        return (ModelGone if no_model else ModelUnusable)(
            f"{message}; is {url} right? RUBRICA_LLM_BASE_URL mostly ends in /v1, and the model has to exist there"
        )
    if status in (401, 403):
        return ModelUnusable(f"{message}; check RUBRICA_LLM_API_KEY")
    return FormRefused(message, said, str(read_error(raw).get("param") or "")) if of_form else ModelRefused(message)


def error_from_object(error: Any) -> ModelError:
    """Return the error for an error object that came instead of an answer, with status 200 or in a stream."""
    code = error.get("code") if isinstance(error, dict) else None
    said = _read_message(error)
    message = f"the model server reported: {said}"
    if isinstance(code, int) and 400 <= code < 600:
        return error_from_status(code, {}, orjson.dumps({"error": error}), "")
    if _TOO_LONG.search(f"{code} {said}"):
        return ContextTooLong(message)
    if _NO_MODEL.search(f"{code} {said}"):
        return ModelGone(f"{message}; check RUBRICA_LLM_MODEL")
    kind = f"{code} {error.get('type') if isinstance(error, dict) else ''} {said}"
    if says_account_empty(kind):
        return ModelUnusable(f"{message}; {TOP_UP}")
    lasting = "invalid" in kind and not _OVERLOADED.search(kind)
    return ModelRefused(message) if lasting else ModelUnavailable(message)


def make_protocol_error(url: str, why: object, raw: bytes) -> ModelUnusable:
    """Return the error for a server that speaks another protocol."""
    shown = " ".join(raw[:200].decode("utf-8", "replace").split())
    return ModelUnusable(
        f"{url} does not speak the chat-completions protocol: {why}. It sent: {shown!r}. "
        "Check RUBRICA_LLM_BASE_URL; it mostly ends in /v1",
        certain=False,
    )


def read_reason(raw: bytes) -> str:
    """Return the reason in the body of a refusal of any form, on one line."""
    try:
        value = _read_body(raw)
    except orjson.JSONDecodeError:
        text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]{0,500}>", " ", raw[:4_000].decode("utf-8", "replace"), flags=re.DOTALL)
        return make_safe_line(text)[:SHOWN_CHARS]
    return _read_message(value.get("error") or value.get("detail") or value if isinstance(value, dict) else value)


def read_misshapen_answer(error: Any) -> str | None:
    """Return the answer that a server kept back because it had not the form that was asked for; None for another refusal."""
    if not isinstance(error, Mapping):
        return None
    written = error.get("failed_generation")
    if written is None and error.get("code") != WRONG_FORM:
        return None
    return written if isinstance(written, str) else ""


def read_error(raw: bytes) -> Mapping[str, Any]:
    """Return the error object of a refusal; empty where it has none."""
    try:
        value = _read_body(raw)
    except orjson.JSONDecodeError:
        return {}
    error = value.get("error") if isinstance(value, dict) else None
    return error if isinstance(error, dict) else {}


def _read_body(raw: bytes) -> Any:
    """Return the JSON of a refusal; some servers wrap it in a list of one."""
    value = orjson.loads(raw)
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _read_code(raw: bytes) -> str:
    """Return the server's code and kind of its reason, if any."""
    error = read_error(raw)
    return f"{error.get('code') or ''} {error.get('type') or ''}"


def _read_message(error: Any) -> str:
    if isinstance(error, dict):
        error = error.get("message") or error
    text = error if isinstance(error, str) else orjson.dumps(error, default=str).decode()
    return make_safe_line(text)[:SHOWN_CHARS]


def _read_retry_wish(headers: Mapping[str, str]) -> timedelta | None:
    """Return when the server wants to be asked again; some servers state it in milliseconds."""
    return time_of(headers.get("retry-after-ms", ""), timedelta(milliseconds=1)) or read_retry_after(headers)
