"""Add to the document what all routes share: summaries, examples, headers, and problems.

Routes declare only what is special about them; a new route gets the rest from here.
"""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from app.exports.nouns import ExportFormat
from app.http.openapi import examples
from app.http.openapi.samples import sample_of

Operation = dict[str, Any]

PROBLEM, ERROR = "application/problem+json", "application/json"
WRITE_METHODS = ("post", "put", "patch", "delete")
IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes repeating this request harmless: it is carried out once, and answered alike for a day.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "example": "3f0c2d0e-5a0b-4f0e-9f43-0a9f3d1c7b11",
}
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of an earlier answer: 304 when nothing has changed since.",
    "schema": {"type": "string"},
    "example": '"9f86d081884c7d659a2feaa0c55ad015"',
}
REQUEST_ID = {"description": "The request's id in our log; the client's own where it sent one.", "schema": {"type": "string"}}
ETAG = {"description": "A digest of this answer, for `If-None-Match`.", "schema": {"type": "string"}}
UNCHANGED = {"description": "Not Modified: the client has this answer already."}
EVENTS = "text/event-stream"
# Answers that come in other forms too, by method and path.
OTHER_FORMS = {
    ("get", "/v1/runs/{run_id}/report"): ("text/markdown", "text/html"),
    ("get", "/v1/runs/{run_id}/export"): tuple(form.media_type for form in ExportFormat),
    ("post", "/openai/v1/responses"): (EVENTS,),
    ("get", "/openai/v1/responses/{response_id}"): (EVENTS,),
    ("post", "/openai/v1/chat/completions"): (EVENTS,),
}
# The event schema of each stream, by path.
CHUNK = "ChatChunk"
STREAMED = {
    "/v1/runs/{run_id}/events": "RunEvent",
    "/openai/v1/responses": "StreamEvent",
    "/openai/v1/responses/{response_id}": "StreamEvent",
    "/openai/v1/chat/completions": CHUNK,
}
# The problems that may always happen: name, title and an example of the detail.
MAY_HAPPEN = {
    400: ("invalid-input", "Invalid input", "the question is empty; write what you want to know"),
    401: ("unauthenticated", "Unauthenticated", "send an API key as `Authorization: Bearer rbk_...`"),
    402: ("budget-reached", "The budget is reached", f"run {examples.RUN_ID} has used up its budget; raise it, then ask again"),
    403: ("forbidden", "Forbidden", "this needs the scope runs:write, which your role (viewer) or your key does not have"),
    404: ("not-found", "Not found", f"there is no run {examples.RUN_ID}"),
    409: ("conflict", "Not possible in this state", f"run {examples.RUN_ID} is completed and cannot be changed any more"),
    412: (
        "outdated",
        "Changed since it was read",
        "the plan is at revision 3 by now; read it again and change that one",
    ),
    413: ("request-entity-too-large", "Request Entity Too Large", "Request Entity Too Large"),
    422: ("key-reused", "Idempotency key reused", "this Idempotency-Key was sent with another request; take a new key"),
    429: ("too-many-requests", "Too many requests", "60 requests a minute are allowed; repeat this one in 12 s"),
    500: ("unexpected", "Unexpected error", "something went wrong here, not in your request; the log of the server says what"),
    503: ("unavailable", "Unavailable", "the database does not answer; repeat the request"),
}


def complete_operations(document: dict[str, Any]) -> None:
    """Add to each operation of the document what it does not declare itself."""
    schemas = document["components"]["schemas"]
    for path, method, operation in list_operations(document):
        operation["summary"] = _first_sentence_of(operation["description"])
        if path == "/health":
            continue
        parameters = operation.setdefault("parameters", [])
        if method in WRITE_METHODS:
            parameters.append(dict(IDEMPOTENCY_KEY))
        elif _brings_json(operation):
            parameters.append(dict(IF_NONE_MATCH))
            operation["responses"]["304"] = dict(UNCHANGED)
        operation["responses"].get("204", {}).pop("content", None)
        _add_forms(path, method, operation)
        _add_problems(path, method, operation)
        _add_examples(operation, schemas)
    for _, _, operation in list_operations(document):
        for status, answer in operation["responses"].items():
            headers = answer.setdefault("headers", {})
            headers["X-Request-ID"] = REQUEST_ID
            if status == "200" and "304" in operation["responses"]:
                headers["ETag"] = ETAG


def list_operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Operation]]:
    """Yield every operation with its path and method."""
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in (*WRITE_METHODS, "get"):
                yield path, method, operation


def _add_forms(path: str, method: str, operation: Operation) -> None:
    for status, answer in operation["responses"].items():
        content = answer.get("content", {})
        if status.startswith("2"):
            content |= {
                form: {"schema": {} if "json" in form else {"type": "string"}} for form in OTHER_FORMS.get((method, path), ())
            }
        if EVENTS in content:
            content[EVENTS]["schema"] = _describe_stream(STREAMED[path])


def _describe_stream(event: str) -> dict[str, Any]:
    """Describe one server-sent event: OpenAPI 3.1 has no better place for it than the schema of the stream."""
    data: dict[str, Any] = {
        "type": "string",
        "contentMediaType": ERROR,
        "contentSchema": {"$ref": f"#/components/schemas/{event}"},
    }
    if event == CHUNK:  # the last line of such a stream is no JSON
        data = {"anyOf": [{"const": "[DONE]"}, data]}
    return {"type": "object", "properties": {"id": {"type": "string"}, "event": {"type": "string"}, "data": data}}


def _first_sentence_of(text: str) -> str:
    return text.split("\n\n")[0].replace("\n", " ").split(". ")[0].rstrip(".")


def _brings_json(operation: Operation) -> bool:
    return ERROR in operation["responses"].get("200", {}).get("content", {})


def _add_problems(path: str, method: str, operation: Operation) -> None:
    statuses = {int(status) for status in operation["responses"] if status.startswith(("4", "5"))}
    statuses |= {401, 403, 429, 500, 503}
    if operation.get("parameters") or "requestBody" in operation:
        statuses.add(400)
    if method in WRITE_METHODS:
        statuses |= {409, 422}
    if "requestBody" in operation:
        statuses.add(413)
    for status in sorted(statuses):
        described = operation["responses"].get(str(status), {}).get("description", "")
        operation["responses"][str(status)] = _describe_problem(path, status, described)


def _describe_problem(path: str, status: int, described: str) -> dict[str, Any]:
    name, title, detail = MAY_HAPPEN.get(status, ("", HTTPStatus(status).phrase, ""))
    name = name or title.lower().replace(" ", "-")
    if path.startswith("/openai/"):
        kind = "server_error" if status >= 500 else "invalid_request_error"
        told: dict[str, Any] = {
            "error": {"message": detail or title, "type": kind, "param": None, "code": name.replace("-", "_")}
        }
        return _describe_answer(described or title, ERROR, "OpenAIErrorBody", told)
    told = {"type": f"urn:rubrica:problem:{name}", "title": title, "status": status, "detail": detail or title}
    return _describe_answer(described or title, PROBLEM, "Problem", told)


def _describe_answer(description: str, media_type: str, schema: str, example: Any) -> dict[str, Any]:
    content = {media_type: {"schema": {"$ref": f"#/components/schemas/{schema}"}, "example": example}}
    return {"description": description, "content": content}


def _add_examples(operation: Operation, schemas: Mapping[str, Any]) -> None:
    for parameter in operation["parameters"]:
        if "example" not in parameter and "examples" not in parameter:
            sampled, known = sample_of(parameter["schema"], schemas), examples.PARAMETERS.get(parameter["name"])
            # The same name may mean something else in another route.
            parameter["example"] = known if type(known) is type(sampled) else sampled
    bodies = [operation["requestBody"]] if "requestBody" in operation else []
    for body in (*bodies, *operation["responses"].values()):
        for media_type, content in body.get("content", {}).items():
            if "example" not in content and "examples" not in content:
                known = examples.TEXTS.get(media_type)
                content["example"] = sample_of(content.get("schema", {}), schemas) if known is None else known
