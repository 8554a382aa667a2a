"""An API that speaks the contract of /v1 over a real socket and can be slow, silent, broken or gone."""

import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from rubrica_client.models import ReportView
from tests.ui.whole_answers import complete_answer, fill_in

TERMINAL = {"completed", "failed", "cancelled"}
START = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
PHASES = {"under_way": {"queued", "running"}, "completed": {"completed"}}
Json = dict[str, Any]
Answerer = Callable[[re.Match[str], Json | None], Any]


class FakeRun:
    """A run whose content a test decides."""

    def __init__(self, question: str, run_id: str = "", **options: Any) -> None:
        self.id = run_id or str(uuid4())
        self.fields: Json = {
            "id": self.id,
            "query": {
                "question": question,
                "language": "en",
                "system": "minddr",
                "effort": "standard",
                "collections": [],
                "budget": {},
            },
            "status": "running",
            "detail": "",
            "usage": {},
            "budget": {},
            "created_at": START.isoformat(),
            "updated_at": START.isoformat(),
            "finished_at": None,
            "last_seq": 0,
        } | options
        self.events: list[Json] = []
        self.report: Json | None = None
        self.purposes: list[Json] = []

    def emit(self, kind: str, payload: Json | None = None, agent: str = "") -> None:
        """Append an event; a status change also changes the run."""
        payload = payload or {}
        seq = len(self.events) + 1
        at = (START + timedelta(seconds=2 * seq)).isoformat()
        if kind == "status_changed":
            self.fields |= {"status": payload["status"], "detail": payload.get("detail", ""), "reason": payload.get("reason")}
            if payload["status"] in TERMINAL:
                self.fields["finished_at"] = at
        self.fields["last_seq"] = seq
        self.events.append({"run_id": self.id, "seq": seq, "type": kind, "agent": agent, "payload": payload, "at": at})


class FakeApi:
    """The server's data and its faults."""

    def __init__(self) -> None:
        self.url = ""
        self.runs: dict[str, FakeRun] = {}
        self.snapshots: dict[str, str] = {}
        self.received: list[tuple[str, str, Json | None]] = []
        self.matched: list[str] = []
        self.keys: list[str] = []
        self.streams_opened_after: list[int] = []
        self.failures: dict[str, tuple[int, Json]] = {}
        self.cut_stream_after = 0
        self.cookie = ""
        self.delay = 0.0
        self.closing = False
        self.sources = ["corpora", "collections"]
        self.models = ["a-model"]
        self.systems = ["minddr", "mams", "react", "deeprubric"]
        self.sends_mail = True
        self.routes: list[tuple[str, str, Answerer]] = []

    def answer(self, method: str, path: str, answer: "Answerer") -> None:
        """Answer requests whose whole path matches the pattern; `answer` gets match and body, and gives JSON or bytes."""
        self.routes.insert(0, (method, path, answer))

    def add(self, run: FakeRun) -> FakeRun:
        """Hold a run."""
        self.runs[run.id] = run
        return run

    def fail(self, path_ending: str, status: int, title: str, detail: str) -> None:
        """Answer requests whose path ends so with a problem."""
        self.failures[path_ending] = (status, {"type": "about:blank", "title": title, "status": status, "detail": detail})

    def commands(self) -> list[tuple[str, str, Json | None]]:
        """Return every request that was to change something: method, last part of the path, body."""
        return [
            (method, path.rsplit("/", 1)[-1], body)
            for method, path, body in self.received
            if method != "GET" and path != "/v1/estimates"
        ]


@contextmanager
def serve_fake_api() -> Iterator[FakeApi]:
    """Serve the API on a free port until the block ends."""
    api = FakeApi()
    handler = type("Handler", (_Handler,), {"api": api})
    server = _Server(("127.0.0.1", 0), handler)
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield api
    finally:
        api.closing = True
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a watcher that hangs up; anything else is an error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    api: FakeApi
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        url = urlsplit(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        json_sent = "json" in self.headers.get("Content-Type", "")
        body = json.loads(raw) if json_sent else {"raw": raw} if raw else None
        self.api.received.append((self.command, url.path, body))
        if matching := self.headers.get("If-Match"):
            self.api.matched.append(matching)
        if key := self.headers.get("Idempotency-Key"):
            self.api.keys.append(key)
        time.sleep(self.api.delay)
        for ending, (status, problem) in self.api.failures.items():
            if url.path.endswith(ending):
                return self._send_problem(status, problem)
        for method, pattern, answer in self.api.routes:
            if method == self.command and (found := re.fullmatch(pattern, url.path)):
                return self._send_answer(url.path, answer(found, body))
        self._route(url.path, parse_qs(url.query), body)

    def _send_answer(self, path: str, answer: Any) -> None:
        if isinstance(answer, bytes):
            return self._send_bytes(200, "application/octet-stream", answer)
        if isinstance(answer, tuple):
            return self._send_problem(
                answer[0], {"type": "about:blank", "title": "Refused", "status": answer[0], "detail": answer[1]}
            )
        self._send_json(200, complete_answer(self.command, path, answer))

    def _route(self, path: str, query: dict[str, list[str]], body: Json | None) -> None:
        if path == "/v1/tools":
            there = {name: getattr(self.api, name) for name in ("sources", "models", "systems", "sends_mail")}
            return self._send_json(200, {"items": [], **there})
        if path == "/v1/preferences/summary":
            return self._send_json(200, complete_answer(self.command, path, {"contests": []}))
        if path == "/v1/comparisons" and self.command == "GET":
            return self._send_json(200, {"items": [], "next": None})
        if path == "/v1/runs" and self.command == "POST":
            return self._create_run(body or {})
        if path == "/v1/runs":
            return self._list_runs(query)
        if found := re.fullmatch(r"/v1/snapshots/(\w+)", path):
            return self._send_bytes(200, "text/plain; charset=utf-8", self.api.snapshots[found[1]].encode())
        found = re.fullmatch(r"/v1/runs/([\w-]+)(?:/(\w+))?", path)
        run = self.api.runs.get(found[1]) if found else None
        if not found or not run:
            detail = "No run has this id."
            return self._send_problem(404, {"type": "about:blank", "title": "Not found", "status": 404, "detail": detail})
        self._answer_about(run, found[2] or "", query)

    def _answer_about(self, run: FakeRun, what: str, query: dict[str, list[str]]) -> None:
        if what == "events":
            return self._stream(run, int(self.headers.get("Last-Event-ID", "0")))
        if what == "usage":
            return self._send_json(200, {"items": run.purposes})
        if what == "report":
            return self._send_report(run)
        if what == "export":
            return self._send_bytes(200, "application/octet-stream", b"%" + query["format"][0].encode())
        changed = {"pause": "paused", "cancel": "cancelled", "resume": "running"}.get(what)
        if changed:
            run.emit("status_changed", {"status": changed, "detail": ""})
        self._send_json(200, run.fields)

    def _create_run(self, body: Json) -> None:
        if not body.get("question", "").strip():
            detail = "the question is empty; write what you want to know"
            return self._send_problem(400, {"type": "about:blank", "title": "Invalid input", "status": 400, "detail": detail})
        run = self.api.add(FakeRun(body["question"], status="queued"))
        run.emit(
            "run_created", {"question": body["question"], "system": "minddr", "effort": body.get("effort"), "language": "en"}
        )
        self._send_json(201, run.fields)

    def _list_runs(self, query: dict[str, list[str]]) -> None:
        limit, before, words = int(query["limit"][0]), query.get("before", [""])[0], query.get("q", [""])[0]
        statuses = PHASES[query["phase"][0]] if "phase" in query else None
        asked = [run for run in reversed(self.api.runs.values()) if statuses is None or run.fields["status"] in statuses]
        runs = [run for run in asked if all(word in run.fields["query"]["question"] for word in words.split())]
        first = next((i + 1 for i, run in enumerate(runs) if run.id == before), 0)
        page = runs[first : first + limit]
        more = first + limit < len(runs)
        self._send_json(200, {"items": [run.fields for run in page], "next": page[-1].id if more else None})

    def _send_report(self, run: FakeRun) -> None:
        if run.report is None:
            detail = "The run has no report yet; it is still running."
            return self._send_problem(409, {"type": "about:blank", "title": "No report yet", "status": 409, "detail": detail})
        self._send_json(200, fill_in(ReportView, run.report))

    def _stream(self, run: FakeRun, after: int) -> None:
        self.api.streams_opened_after.append(after)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        sent = 0
        while not self.api.closing:
            for event in run.events[after:]:
                if self.api.cut_stream_after and sent >= self.api.cut_stream_after:
                    self.close_connection = True
                    return
                self._send_chunk(f"id: {event['seq']}\nevent: {event['type']}\ndata: {json.dumps(event)}\n\n")
                after, sent = event["seq"], sent + 1
            if run.fields["status"] in TERMINAL and after == len(run.events):
                return self._send_chunk("")
            self._send_chunk(": still here\n\n")
            time.sleep(0.05)

    def _send_chunk(self, text: str) -> None:
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _send_problem(self, status: int, problem: Json) -> None:
        self._send_bytes(status, "application/problem+json", json.dumps(problem).encode())

    def _send_json(self, status: int, value: Json) -> None:
        self._send_bytes(status, "application/json", json.dumps(value).encode())

    def _send_bytes(self, status: int, media_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        if self.api.cookie:
            self.send_header("Set-Cookie", self.api.cookie)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
