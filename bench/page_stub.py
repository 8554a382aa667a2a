"""An API with one large run, for measuring the page: a log of many events that goes on growing, and a report of many pages."""

import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rubrica_client.models import ReportView
from tests.ui.whole_answers import complete_answer, fill_in

Json = dict[str, Any]

WORDS_A_PAGE = 500
SENTENCE = "The duty on imported iron was raised in {year} and lowered again when the revenue exceeded what the treasury needed"
SPEECH = " ".join(SENTENCE.format(year=1800 + n % 100) + "." for n in range(400))
SNAPSHOT = hashlib.sha256(SPEECH.encode()).hexdigest()
HEARTBEAT_S = 1.0


class LargeRun:
    """A run that the stub serves. While it is `running`, `emit` adds events."""

    def __init__(self, run_id: str, status: str, events: int, pages: int) -> None:
        self.id = run_id
        self.began = datetime.now(UTC) - timedelta(hours=1)
        self.status = status
        self.log: list[bytes] = []
        self.grown = threading.Condition()
        for _ in range(events):
            self.emit()
        if status == "completed":
            self._append("status_changed", {"status": status, "detail": ""}, "")
        self.report = fill_in(ReportView, _make_report(run_id, pages))

    def emit(self) -> int:
        """Add an event as a run of three searches would write it; return its number."""
        n = len(self.log) + 1
        agent = f"search/s{n % 3 + 1}"
        if n <= 4:
            kind, payload, agent = _make_opening(n)
        elif n % 3:
            kind, payload = "model_call", {"step": "act", "model": "stub", "input_tokens": 4_000, "output_tokens": 300}
        else:
            sources = [{"title": f"Message of {n + k}", "url": f"https://example.org/{n + k}"} for k in range(3)]
            payload = {"tool": "search", "query": f"duties in {1700 + n % 300}", "results": 8, "sources": sources, "error": ""}
            kind = "tool_call"
        return self._append(kind, payload, agent)

    def _append(self, kind: str, payload: Json, agent: str) -> int:
        with self.grown:
            seq = len(self.log) + 1
            at = (self.began + timedelta(seconds=seq / 5)).isoformat()
            event = {"run_id": self.id, "seq": seq, "type": kind, "agent": agent, "payload": payload, "at": at}
            self.log.append(f"id: {seq}\nevent: {kind}\ndata: {json.dumps(event)}\n\n".encode())
            self.grown.notify_all()
        return seq

    def to_json(self) -> Json:
        """Return the run in the form of `GET /v1/runs/{id}`."""
        query = {"question": "How did duties change?", "language": "en", "effort": "deep"}
        times = {"created_at": self.began.isoformat(), "updated_at": self.began.isoformat()}
        finished = self.began.isoformat() if self.status == "completed" else None
        return {"id": self.id, "query": query, "status": self.status, "last_seq": len(self.log), "finished_at": finished} | times


def _make_opening(n: int) -> tuple[str, Json, str]:
    subtasks = [{"id": f"s{k}", "title": f"Part {k}", "question": f"What of part {k}?"} for k in (1, 2, 3)]
    return (
        ("run_created", {"question": "How did duties change?"}, ""),
        ("status_changed", {"status": "running", "detail": ""}, ""),
        ("stage_started", {"stage": "plan", "title": "Plan"}, "plan"),
        ("plan_made", {"plan": {"intent": "Follow the duties.", "title": "Duties", "subtasks": subtasks}}, "plan"),
    )[n - 1]


def _make_report(run_id: str, pages: int) -> Json:
    """Make sections of five paragraphs; each sentence is cited and is a claim, and every tenth claim is doubtful."""
    lines, citations, claims = ["# Duties"], [], []
    sentences = pages * WORDS_A_PAGE // len(SENTENCE.split())
    for n in range(1, sentences + 1):
        if n % 40 == 1:
            lines.append(f"## Section {n // 40 + 1}")
        sentence = f"{SENTENCE.format(year=1700 + n)} ({n})."
        lines.append(f"{sentence[:-1]} [{n}].")
        quote = SPEECH[:100]
        source = {"title": f"Message {n % 150}", "url": f"https://example.org/{n % 150}", "snapshot": SNAPSHOT}
        citations.append({"n": n, "quote": quote, "start": 0, "end": len(quote), "source": source})
        claims.append(
            {"text": sentence, "citations": [n], "support": "partial" if n % 10 == 0 else "full", "reason": "one year off"}
        )
    paragraphs = "\n\n".join(lines)
    return {"run_id": run_id, "title": "Duties", "markdown": paragraphs, "citations": citations, "claims": claims}


@contextmanager
def serve_runs(runs: list[LargeRun]) -> Iterator[str]:
    """Serve the stub on a free port until the block ends; yield its address."""
    handler = type("Handler", (_Handler,), {"runs": {run.id: run for run in runs}, "closing": threading.Event()})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        handler.closing.set()  # type: ignore[attr-defined]
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    runs: dict[str, LargeRun]
    closing: threading.Event
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Print nothing: a benchmark prints its figures and nothing else."""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/health":
            return self._answer_json(path, {"ok": True})
        parts = path.strip("/").split("/")
        if parts[1] == "snapshots":
            return self._answer("text/plain; charset=utf-8", SPEECH.encode())
        if path == "/v1/runs":
            return self._answer_json(path, {"items": [run.to_json() for run in self.runs.values()]})
        run = self.runs.get(parts[2]) if parts[1] == "runs" else None
        if run is None:
            return self._answer("application/problem+json", b'{"title": "Not found", "status": 404}', 404)
        if parts[3:] == ["events"]:
            return self._stream(run, int(query.partition("after=")[2] or 0))
        if parts[3:] == ["report"]:
            return self._answer("application/json", json.dumps(run.report).encode())
        return self._answer_json(path, {} if parts[3:] else run.to_json())

    def _answer_json(self, path: str, given: Json) -> None:
        """Answer with the given fields, and with neutral values for the others that the API's contract has."""
        self._answer("application/json", json.dumps(complete_answer("GET", path, given)).encode())

    def _answer(self, kind: str, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, run: LargeRun, after: int) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        last_word = time.monotonic()
        while not self.closing.is_set():
            with run.grown:
                if len(run.log) == after:
                    run.grown.wait(HEARTBEAT_S)
                news = run.log[after:]
            after += len(news)
            if news or time.monotonic() - last_word > HEARTBEAT_S:
                self.wfile.write(b"".join(news) or b": still here\n\n")
                last_word = time.monotonic()
            if run.status == "completed" and after == len(run.log):
                return
