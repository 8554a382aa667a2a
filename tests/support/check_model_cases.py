"""Whole runs against the stub with one quirk each, compared with the right value.

    python -m tests.support.check_model_cases CASES [ID ...]

CASES is a folder with `model.json`: a list of cases with `id`, `mode` (a quirk of `model_stub_quirks`), and what the report must
have. A case whose quirk never fired is wrong. BUGS_HOME is the stack's home. A worker remembers what its server refused and asks
otherwise from then on, so each case that refuses something has a stack of its own.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.support.model_stub_script import RunShape
from tests.support.stack import RUBRICA, command_environment

QUESTION = "What was the toll of Velm in 1951?"
PASSAGE = re.compile(r'<passage id="(q\d+)"[^>]*>\n(.*?)\n</passage>', re.DOTALL)
SENTENCE = re.compile(r"[A-Z][^.!?\n<>]{12,300}\.")
FILES = (
    "In May 1951 the harbour board of Velm raised the toll to five crowns a ton. "
    "The toll of Velm fell on every vessel above forty tons.",
    "Until 1951 a ship at Velm paid a toll of two crowns a ton. The dredging of 1911 was not yet paid for.",
    "The board of Velm met in the old customs house. Its chairman in 1951 was Ida Moe, who had kept the light for eleven years.",
    "In 1960 the toll of Velm was abolished, and the harbour has been free since then.",
    "Fishing boats of Velm paid no toll in 1951 nor before. They were counted at the mole each evening.",
)
TIDES = "\n\n".join(
    f"On day {day} the tide at Ostrow rose by {day % 7 + 2} feet and fell again before the lamps of mole {day % 11} were lit."
    for day in range(1, 1_000)
)
"""A file that makes the collection too long to be read whole, so that a run searches."""
CONTEXT = "64000"
OVER = ("completed", "failed", "cancelled", "paused")
PATIENCE_S = 40
MOST_A_CALL = 1_000
REFUSING = {"no_system", "alternate", "llamacpp_grammar", "xgrammar", "gemini_schema", "org_stream"}
"""The quirks after which a worker asks otherwise."""


def write_report(prompt: StubPrompt) -> str | None:
    """Write a report of whole sentences of the passages, each cited; None where something else is asked for."""
    told = [(name, said[:-1]) for name, text in PASSAGE.findall(prompt.last) if "Velm" in text for said in SENTENCE.findall(text)]
    if prompt.step or not told:
        return None
    body = "\n\n".join(f"{said} [{name}]." for name, said in told)
    return f"# The toll of Velm\n\n## Summary\n\n{told[0][1]} [{told[0][0]}].\n\n## What was paid\n\n{body}"


@contextmanager
def serving(stub: ModelStub) -> Iterator[None]:
    """Serve the stub on a thread of its own."""
    loop, served = asyncio.new_event_loop(), threading.Event()

    async def serve() -> None:
        async with serve_model_stub(stub):
            served.set()
            await asyncio.Event().wait()

    def work() -> None:
        loop.run_until_complete(serve())

    threading.Thread(target=work, daemon=True).start()
    served.wait()
    yield


@contextmanager
def running_stack(home: Path, base_url: str) -> Iterator["Client"]:
    """Run the product beside the stub."""
    model = {"RUBRICA_LLM_BASE_URL": base_url, "RUBRICA_LLM_MODEL": "stub", "RUBRICA_LLM_CONTEXT": CONTEXT}
    environment = command_environment(RUBRICA_HOME=str(home), **model)
    with subprocess.Popen(
        [*RUBRICA, "up"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as stack:
        try:
            for line in stack.stdout or ():
                if found := re.search(r"API\s+(http://\S+)", line):
                    threading.Thread(target=lambda: [*(stack.stdout or ())], daemon=True).start()
                    yield Client(found.group(1), (home / "api-key").read_text().strip())
                    return
            raise SystemExit("the stack did not start")
        finally:
            stack.terminate()


class Client:
    """The API, as far as the cases need it."""

    def __init__(self, api: str, key: str) -> None:
        self.api, self.key = api, key

    def call(self, method: str, path: str, body: Any = None, data: bytes | None = None, kind: str = "application/json") -> Any:
        """Return the JSON of an answer, or its text."""
        data = data or (json.dumps(body).encode() if body is not None else None)
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": kind}
        request = urllib.request.Request(self.api + path, method=method, data=data, headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found = answer.read().decode()
        return found if "/export?" in path else json.loads(found or "null")

    def list_events(self, run: str) -> str:
        """Return the run's events by now."""
        command = ["curl", "-s", "-m", "2", "-H", f"Authorization: Bearer {self.key}"]
        asked = subprocess.run([*command, f"{self.api}/v1/runs/{run}/events?after=0"], capture_output=True, check=False)
        return asked.stdout.decode()

    def add_collection(self, name: str) -> None:
        """Make a collection of the files, and wait until it is indexed."""
        made = self.call("POST", "/v1/collections", {"name": name})
        documents = f"/v1/collections/{made['id']}/documents"
        for number, text in enumerate((*FILES, TIDES)):
            head = f'--b\r\nContent-Disposition: form-data; name="file"; filename="velm{number}.md"\r\n\r\n'
            self.call("POST", documents, data=f"{head}{text}\r\n--b--\r\n".encode(), kind="multipart/form-data; boundary=b")
        while {one["state"] for one in self.call("GET", documents)["items"]} - {"indexed", "failed"}:
            time.sleep(0.5)

    def research(self, collection: str) -> dict[str, Any]:
        """Return a run when it is over, or as it is after a while; one that goes on is cancelled."""
        asked = {"question": QUESTION, "effort": "quick", "collections": [collection]}
        run, begun = self.call("POST", "/v1/runs", asked), time.monotonic()
        while run["status"] not in OVER and time.monotonic() - begun < PATIENCE_S:
            time.sleep(0.5)
            run = self.call("GET", f"/v1/runs/{run['id']}")
        if run["status"] not in OVER[:3]:
            self.call("POST", f"/v1/runs/{run['id']}/cancel", {})
        return dict(run)


def list_faults(case: Mapping[str, Any], run: Mapping[str, Any], report: str, events: str) -> Iterator[str]:
    """List what differs from the right value."""
    told = {
        f"status:{run['status']}",
        *(w for w in case.get("any_of", ()) if w.startswith("detail:") and w[7:] in str(run["detail"])),
    }
    if not told & {*case.get("any_of", ("status:completed",))}:
        yield f"{run['status']}: {str(run.get('detail'))[:160]}"
    yield from (f"lacks {words!r}" for words in case.get("must", ()) if words not in report)
    yield from (f"has {words!r}" for words in case.get("must_not", ()) if words in report)
    yield from (f"events say {words!r}" for words in case.get("events_not", ()) if words in events)
    if "once" in case and (times := max(part.count(case["once"]) for part in report.split("\n## "))) != 1:
        yield f"{times} times in one section"
    counted, calls = run["usage"]["output_tokens"], run["usage"]["model_calls"]
    if counted < min(case.get("least_output_tokens", 0), MOST_A_CALL * calls):
        yield f"{counted} output tokens counted in {calls} calls"


def check(client: Client, stub: ModelStub, collection: str, case: Mapping[str, Any]) -> bool:
    """Run one case, print how it went, and say whether it went right."""
    stub.take_quirk(case["mode"])
    run = client.research(collection)
    report = client.call("GET", f"/v1/runs/{run['id']}/export?format=md") if run["status"] == "completed" else ""
    faults = list(list_faults(case, run, report, client.list_events(run["id"])))
    faults += [] if stub.quirked else ["the quirk never fired"]
    print(
        "WRONG" if faults else "right",
        case["id"],
        case["mode"][:60],
        f"({stub.quirked} fired)",
        "|",
        "; ".join(faults)[:400],
        flush=True,
    )
    if faults and os.environ.get("SHOW"):
        print(report)
    return not faults


def main() -> None:
    """Run the cases that are named, or all."""
    folder, only = Path(sys.argv[1]), sys.argv[2:]
    home = Path(os.environ["BUGS_HOME"])
    cases = [case for case in json.loads((folder / "model.json").read_text()) if not only or case["id"] in only]
    usual = [case for case in cases if case["mode"] not in REFUSING]
    groups = [group for group in (usual, *([case] for case in cases if case["mode"] in REFUSING)) if group]
    stub, name = ModelStub(answerer=write_report, shape=RunShape(1, 2, 1)), f"Velm{int(time.time())}"
    wrong = 0
    with serving(stub):
        for group in groups:
            with running_stack(home, stub.base_url) as client:
                if group is groups[0]:
                    client.add_collection(name)
                stub.take_quirk("")
                client.research(name)  # the first search of a stack loads its encoder
                wrong += sum(not check(client, stub, name, case) for case in group)
    print(f"{wrong} wrong of {len(cases)}")


if __name__ == "__main__":
    main()
