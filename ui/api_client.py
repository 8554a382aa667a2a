"""A small typed client of the HTTP API. Whatever goes wrong becomes one `ApiProblem` that says what to do."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any, TypeVar

import requests
from pydantic import ValidationError
from urllib3.exceptions import HTTPError

from ui.models import Answer, Budget, Event, NewRun, Plan, Report, Run, RunPage
from ui.sse import read_events

A = TypeVar("A", bound=Answer)
Files = Sequence[tuple[str, tuple[str, bytes]]]

CONNECT_LIMIT = 3.0  # seconds
EXPORT_LIMIT = timedelta(seconds=60)
UPLOAD_LIMIT = timedelta(minutes=10)
# A model is asked meanwhile.
DRAFTING_LIMIT = timedelta(seconds=110)
HEARTBEAT_LIMIT = timedelta(seconds=25)


class ApiProblem(Exception):
    """An error answer (RFC 9457), or none at all.

    `status` is 0 when no answer came; then `kind` says why: `unreachable`, `timeout`, `unreadable` or `stream`. The page has
    words of its own for these, and an advice for each status; `title` and `detail` of an answer are the API's.
    """

    def __init__(self, title: str, detail: str = "", status: int = 0, kind: str = "") -> None:
        super().__init__(f"{title}: {detail}" if detail else title)
        self.title = title
        self.detail = detail
        self.status = status
        self.kind = kind


class ApiClient:
    """Speaks to one API. `timeout` bounds each request but the event stream, which lives by its heartbeats.

    `sign` is added to the headers of every request: who asks.
    """

    def __init__(
        self, base_url: str, sign: Mapping[str, str] = MappingProxyType({}), timeout: timedelta = timedelta(seconds=10)
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.sign = dict(sign)
        self._timeout = timeout.total_seconds()
        self._session = requests.Session()
        self._session.trust_env = False  # the API is a neighbour; a proxy from the environment must not stand between

    def start_run(self, new: NewRun) -> Run:
        """Ask a question; the run as accepted. Where several systems are asked, a rubric for all is drafted first."""
        limit = DRAFTING_LIMIT if new.beside else None
        return self._parse(Run, self._send("POST", "/v1/runs", body=new.model_dump(exclude_none=True), timeout=limit))

    def runs(self, limit: int = 20, before: str | None = None, words: str = "") -> RunPage:
        """A page of runs, newest first; with `words`, those that have all of them in question or report."""
        query = {"limit": str(limit)} | ({"before": before} if before else {}) | ({"q": words} if words else {})
        return self._parse(RunPage, self._send("GET", "/v1/runs", query=query))

    def run(self, run_id: str) -> Run:
        """One run."""
        return self._parse(Run, self._send("GET", f"/v1/runs/{run_id}"))

    def report(self, run_id: str) -> Report:
        """The report with its citations."""
        return self._parse(Report, self._send("GET", f"/v1/runs/{run_id}/report", accept="application/json"))

    def export(self, run_id: str, form: str) -> bytes:
        """The report as a file: `pdf`, `docx`, `html`, `md`, `latex` or `json`; or what it cites, as `bibtex`, `ris` or `csl`."""
        return self._send("GET", f"/v1/runs/{run_id}/export", query={"format": form}, timeout=EXPORT_LIMIT).content

    def snapshot(self, snapshot: str) -> str:
        """The stored copy of a source, to which all offsets refer."""
        response = self._send("GET", f"/v1/snapshots/{snapshot}")
        if "json" in response.headers.get("Content-Type", ""):
            return str(response.json()["text"])
        return response.content.decode("utf-8")

    def pause(self, run_id: str) -> None:
        """Stop after the turns in flight; everything is kept."""
        self._send("POST", f"/v1/runs/{run_id}/pause")

    def resume(self, run_id: str, *, finish: bool = False) -> None:
        """Go on; with `finish`, write the report from what there is and spend nothing more."""
        self._send("POST", f"/v1/runs/{run_id}/resume", body={"finish": finish})

    def cancel(self, run_id: str) -> None:
        """End the run for good."""
        self._send("POST", f"/v1/runs/{run_id}/cancel")

    def delete_run(self, run_id: str) -> None:
        """Delete a run that has ended, with its report and all else that came of it."""
        self._send("DELETE", f"/v1/runs/{run_id}")

    def add_note(self, run_id: str, text: str) -> None:
        """Tell the agents something; they read it when they start their next stage."""
        self._send("POST", f"/v1/runs/{run_id}/notes", body={"text": text})

    def revise_plan(self, run_id: str, plan: Plan) -> Plan:
        """Replace the plan; what subtasks that stay have found is kept."""
        return self._parse(Plan, self._send("PUT", f"/v1/runs/{run_id}/plan", body=plan.model_dump(mode="json")))

    def set_budget(self, run_id: str, budget: Budget) -> None:
        """Replace the run's hard cap."""
        self._send("PUT", f"/v1/runs/{run_id}/budget", body=budget.model_dump())

    def events(self, run_id: str, after: int) -> Iterator[Event | None]:
        """The run's events after `after`, as they happen; None for each heartbeat. Ends when the server ends it.

        Raises:
            ApiProblem: the stream could not be opened, broke, or fell silent for longer than two heartbeats.
        """
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity", "Last-Event-ID": str(after)}
        path, silence = f"/v1/runs/{run_id}/events", HEARTBEAT_LIMIT.total_seconds()
        response = self._request("GET", path, headers, query={"after": str(after)}, stream=True, timeout=silence)
        with response:
            try:
                for data in read_events(response):
                    yield None if data is None else Event.model_validate_json(data)
            except ValidationError as error:
                raise _unreadable(error) from error
            except (requests.RequestException, HTTPError, OSError) as error:
                raise ApiProblem("The event stream broke off", str(error), kind="stream") from error

    def _send(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        files: Files | None = None,
        accept: str = "*/*",
        headers: Mapping[str, str] | None = None,
        timeout: timedelta | None = None,
    ) -> requests.Response:
        longest = timeout or (UPLOAD_LIMIT if files else None)
        limit = longest.total_seconds() if longest else self._timeout
        sent = {"Accept": accept, **(headers or {})}
        return self._request(method, path, sent, body=body, query=query, files=files, timeout=limit)

    def _request(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        files: Files | None = None,
        stream: bool = False,
        timeout: float,
    ) -> requests.Response:
        url = self.base_url + path
        try:
            response = self._session.request(
                method,
                url,
                headers=self.sign | dict(headers),
                json=body,
                params=query,
                files=files,
                stream=stream,
                timeout=(CONNECT_LIMIT, timeout),
            )
        except requests.RequestException as error:
            raise _unreachable(self.base_url, error) from error
        if response.status_code >= 400:
            raise _problem(response)
        return response

    @staticmethod
    def _parse(kind: type[A], response: requests.Response) -> A:
        try:
            return kind.model_validate_json(response.content)
        except ValidationError as error:
            raise _unreadable(error) from error


def _unreachable(base_url: str, error: requests.RequestException) -> ApiProblem:
    if isinstance(error, requests.Timeout):
        return ApiProblem("The API did not answer in time", base_url, kind="timeout")
    return ApiProblem("The API cannot be reached", base_url, kind="unreachable")


def _unreadable(error: ValidationError) -> ApiProblem:
    return ApiProblem("The API gave an answer that this page cannot read", str(error.errors()[0]["msg"]), kind="unreadable")


def _problem(response: requests.Response) -> ApiProblem:
    try:
        body = response.json()
    except (json.JSONDecodeError, requests.RequestException):
        body = {}
    fields: dict[str, Any] = body if isinstance(body, dict) else {}
    title = str(fields.get("title") or response.reason or "The API refused")
    return ApiProblem(title, str(fields.get("detail", "")), response.status_code)
