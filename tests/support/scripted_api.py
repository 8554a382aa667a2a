"""A stand-in for the HTTP API over a real socket: one run whose events, report and faults a test decides."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

RUN_ID = "00000000-0000-4000-8000-000000000001"
AT = "2026-01-01T00:00:{:02d}Z"
SNAPSHOT = "One. A quoted sentence of the source: naïve 关税. End."
QUOTE = "A quoted sentence of the source: naïve 关税."
SNAPSHOT_NAME = hashlib.sha256(SNAPSHOT.encode()).hexdigest()
CRITERIA = [
    *({"title": f"Point {n}", "description": f"Key Criterion: Says {n}.", "weight": 5} for n in range(6)),
    {"title": "Guess", "description": "Error Criterion: Guesses.", "weight": -2},
]


@dataclass
class ScriptedApi:
    """One run. `events` are (type, agent, payload); the stream breaks off after each position in `breaks`, as at a restart."""

    events: list[tuple[str, str, dict[str, Any]]]
    breaks: list[int] = field(default_factory=list)
    start: int = SNAPSHOT.index(QUOTE)
    budget: dict[str, int] = field(default_factory=dict)
    run_id: str = RUN_ID  # the id that answers name; the run is served under `RUN_ID`
    question: str = "Why tariffs?"
    expired: str = ""  # the status of a run whose events are kept no longer
    plan: dict[str, Any] | None = None
    snapshot: str = SNAPSHOT_NAME  # the name of the source's stored copy; one that leads elsewhere is served there
    newer: Sequence[str] = ()  # the ids of runs on the list's first page; the run itself is then on the second
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    added: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def status(self) -> str:
        """The run's status after its last event."""
        found = [payload["status"] for kind, _, payload in self.events if kind == "status_changed"]
        return str(found[-1]) if found else self.expired or "queued"

    def add(self, *events: tuple[str, str, dict[str, Any]]) -> None:
        """Add events."""
        self.events += events
        self.added.set()
        self.added = asyncio.Event()

    def show_run(self) -> dict[str, Any]:
        """Return the run as the API shows it."""
        return {
            "id": self.run_id,
            "query": {"question": self.question},
            "status": self.status,
            "plan": self.plan,
            "created_at": AT.format(0),
            "updated_at": AT.format(1),
            "detail": "because" if self.expired else "",
            "last_seq": len(self.events),
            "budget": self.budget,
        }


@asynccontextmanager
async def serve_scripted_api(api: ScriptedApi) -> AsyncIterator[str]:
    """Serve it; yield its address."""
    app = web.Application(client_max_size=2**20)
    app.router.add_get("/health", _answer_health)
    for method, path in (("GET", "/v1/runs/{id}/events"), ("*", "/v1/{rest:.*}"), ("GET", "/{rest:.*}")):
        app.router.add_route(method, path, _make_stream_handler(api) if path.endswith("events") else _make_handler(api))
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _answer_health(_: web.Request) -> web.Response:
    return web.json_response({"ok": True})


def _make_stream_handler(api: ScriptedApi) -> Any:
    async def stream(request: web.Request) -> web.StreamResponse:
        api.calls.append(("EVENTS", request.path, request.headers.get("Last-Event-ID")))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b": here\n\n")
        seq = int(request.headers.get("Last-Event-ID", "0"))
        while True:
            while seq < len(api.events):
                seq += 1
                await response.write(_make_frame(seq, api.events[seq - 1]))
                if seq in api.breaks:
                    api.breaks.remove(seq)
                    assert request.transport is not None
                    request.transport.abort()
                    return response
            if api.status in ("completed", "failed", "cancelled"):
                return response
            await api.added.wait()

    return stream


def _make_frame(seq: int, event: tuple[str, str, dict[str, Any]]) -> bytes:
    kind, agent, payload = event
    body = {"run_id": RUN_ID, "seq": seq, "type": kind, "agent": agent, "payload": payload, "at": AT.format(seq)}
    return f"id: {seq}\nevent: {kind}\ndata: {json.dumps(body)}\n\n".encode()


def _make_handler(api: ScriptedApi) -> Any:
    async def answer(request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else None
        path = "/" + request.match_info["rest"]
        api.calls.append((request.method, path, body))
        match request.method, path.removeprefix(f"/runs/{RUN_ID}"):
            case "POST", "/runs":
                return web.json_response(api.show_run(), status=201)
            case "POST", "/estimates":
                span = {"low": 10, "likely": 20, "high": 1_234}
                return web.json_response({"tokens": span, "cost_microusd": span, "seconds": span, "runs": 3, "model": "m"})
            case (("GET" | "PUT"), "/rubric"):
                return web.json_response({"rubric": {"criteria": CRITERIA}, "drafted": None, "edited_at": None})
            case "GET", "/scorecard":
                items = [{"criterion": criterion, "score": 0.5, "reason": "half of it"} for criterion in CRITERIA[:-1]]
                items.append({"criterion": CRITERIA[-1], "score": None, "missing": "nobody could"})
                return web.json_response({"items": items, "overall": 0.5, "judged": len(items) - 1})
            case "GET", "/runs" if api.newer and "before" not in request.query:
                return web.json_response({"items": [api.show_run() | {"id": id_} for id_ in api.newer], "next": api.newer[-1]})
            case "GET", "/runs":
                return web.json_response({"items": [api.show_run()], "next": None})
            case "GET", "/tape":
                return web.Response(body=b"a tape", content_type="application/octet-stream")
            case "GET", "":
                return web.json_response(api.show_run())
            case "GET", "/report":
                html = "html" in request.headers["Accept"]
                return web.Response(text="<p>Report [1]</p>" if html else "# Report [1]\n")
            case "GET", "/export":
                return web.Response(body=f"a {request.query['format']}".encode(), content_type="application/octet-stream")
            case "GET", "/evidence":
                return web.json_response(make_evidence(api.start, api.snapshot))
            case "GET", copy if copy.endswith(f"/{api.snapshot.rpartition('/')[2]}"):
                return web.Response(text=SNAPSHOT)
            case "POST", "/pause":
                api.add(("status_changed", "", {"status": "paused", "detail": ""}))
                return web.json_response(api.show_run(), status=202)
            case "POST", "/notes":
                return web.json_response({"seq": len(api.events), "text": body["text"]}, status=201)
            case (("POST" | "PUT" | "DELETE"), part) if part.startswith("/plan"):
                return web.json_response({"subtasks": [{"id": "s1", "title": "Revenue", "question": "What was raised?"}]})
            case (("POST" | "PUT" | "DELETE"), _):
                return web.json_response(api.show_run(), status=202)
        problem = {"type": "x", "title": "Not found", "status": 404, "detail": f"there is no {path}"}
        return web.json_response(problem, status=404, content_type="application/problem+json")

    return answer


def make_evidence(start: int, snapshot: str = SNAPSHOT_NAME) -> dict[str, Any]:
    """Make the evidence of a report with one citation whose quote begins at `start`."""
    source = {"title": "T", "url": "http://example.org/t", "snapshot": snapshot}
    citation = {"n": 1, "quote": QUOTE, "start": start, "end": start + len(QUOTE), "source": source}
    return {"run_id": RUN_ID, "question": "Why tariffs?", "status": "completed", "usage": {}, "citations": [citation]}


def make_run_events(status: str = "completed") -> Sequence[tuple[str, str, dict[str, Any]]]:
    """Make the events of a small run from question to report."""
    subtasks = [{"id": "s1", "title": "Revenue"}, {"id": "s2", "title": "Protection"}]
    call = {"step": "act", "model": "m", "input_tokens": 900, "output_tokens": 100, "cost_microusd": 1_500, "replayed": False}
    found = {
        "tool": "search",
        "query": "tariff",
        "results": 2,
        "sources": [{"title": "T", "url": "http://example.org/t"}],
        "error": "",
    }
    done = {"stage": "search/s1", "title": "Revenue", "stop": "sufficient", "detail": "", "quotes": 3, "sources": 1, "usage": {}}
    return [
        ("run_created", "", {"question": "Why tariffs?", "system": "minddr", "effort": "standard", "language": "en"}),
        ("status_changed", "", {"status": "running", "detail": ""}),
        ("stage_started", "plan", {"stage": "plan", "title": "Plan"}),
        ("plan_made", "plan", {"plan": {"subtasks": subtasks}}),
        ("stage_started", "search/s1", {"stage": "search/s1", "title": "Revenue"}),
        ("model_call", "search/s1", call),
        ("tool_call", "search/s1", found),
        ("waiting", "search/s2", {"what": "model", "detail": "the model is overloaded", "retry_in_s": 4}),
        ("stage_finished", "search/s1", done),
        ("stage_started", "report", {"stage": "report", "title": "Report"}),
        ("model_call", "report/section/1", call),
        ("report_ready", "report", {"sections": 2, "citations": 1, "words": 200, "unresolved_citations": 0}),
        ("status_changed", "", {"status": status, "detail": "because"}),
    ]
