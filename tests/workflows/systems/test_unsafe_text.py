"""Turns of direction and control characters, in a page and in every answer of a model, reach nothing that a reader gets."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from app.domain.chat import ChatRequest
from app.domain.evidence import Passage
from app.domain.query import ResearchQuery
from app.domain.run import EventType, Run, RunStatus
from app.reports.rendering import render
from bench.web_listeners import PageReply
from retrieval.ports import Document, SearchFilter
from tests.retrieval.fetch.small_web import serve_small_web
from tests.workflows.agent_kit import make_kit, run_chain
from tests.workflows.sensible_model import answer_sensibly
from tests.workflows.small_corpus import SmallCorpus
from workflows.chat_models.scripted import ScriptedModel
from workflows.systems.local_record import LocalRecord

QUESTION = "How did presidents justify tariffs before 1900?"
PLANTED = "\x1b[2J\u202e\u2066\x07\x9b\u2028"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
HEBREW = "המכס של 1890 (ראו \u200eISO 8601\u200f) הגן על השכר."
PAGE = f"<p>The tariff of 1890 was said to{PLANTED} protect the wages of labor in the north.</p><p>{HEBREW}</p>"
NAMES = ("action", "id", "passage", "quotes", "depends_on", "section", "passages", "inputs")


def find_unsafe(value: Any) -> list[str]:
    """List the texts of a JSON value that have unsafe characters."""
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in find_unsafe(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in find_unsafe(part)]
    return [value] if isinstance(value, str) and UNSAFE.search(value) else []


def spoil(value: Any) -> Any:
    """Plant the characters in the middle of every text of an answer, but for names that the program gave."""
    if isinstance(value, str):
        middle = len(value) // 2
        return f"{value[:middle]}{PLANTED}{value[middle:]}" if value else value
    if isinstance(value, dict):
        return {k: v if k in NAMES and not isinstance(v, list) else spoil(v) for k, v in value.items()}
    if isinstance(value, list):
        return [v if isinstance(v, str) and re.fullmatch(r"[pqs]\d+", v) else spoil(v) for v in value]
    return value


def answer_unsafely(request: ChatRequest) -> str:
    said = answer_sensibly(request)
    try:
        return json.dumps(spoil(json.loads(said)))
    except ValueError:
        return re.sub(r"(?<=\w) (?=\w)", f" {PLANTED}", said)


class UnsafeWeb(SmallCorpus):
    """The small corpus, with one page of the web as the first result of every search."""

    def __init__(self, page: Document) -> None:
        super().__init__()
        self._page = page

    async def search(self, query: str, limit: int, where: SearchFilter) -> Sequence[Passage]:
        text = self._page.text
        return [Passage(source=self._page.source, text=text, start=0, end=len(text)), *await super().search(query, limit, where)]

    async def read(self, url: str) -> Document:
        return self._page if url == self._page.source.url else await super().read(url)


async def test_unsafe_characters_reach_no_report_no_claim_and_no_event() -> None:
    head = f"<head><title>Tar{PLANTED}iff</title></head>"
    reply = PageReply(f"<html>{head}<body><article>{PAGE * 3}</article></body></html>".encode())
    async with serve_small_web({"/page": reply}) as web, web.make_reader() as reader:
        page = await reader.read(web.make_url("/page"))
    assert HEBREW.replace("\u200e", "").replace("\u200f", "") in page.text
    events: list[Any] = []
    record = LocalRecord("t", watch=lambda event, agent, told: events.append((event, agent, told)))
    report = await run_chain(make_kit(ScriptedModel(answer_unsafely), record, UnsafeWeb(page)), record, QUESTION)
    now = datetime(2026, 3, 1, tzinfo=UTC)
    run = Run(id=uuid4(), query=ResearchQuery(question=QUESTION), status=RunStatus.RUNNING, created_at=now, updated_at=now)
    rendered = render(report, run)
    given = {
        "report": report.model_dump(mode="json"),
        "markdown": rendered.renderings.markdown,
        "html": rendered.renderings.html,
        "evidence": json.loads(json.dumps(rendered.evidence, default=str)),
        "events": json.loads(json.dumps(events, default=str)),
        "page": page.model_dump(mode="json"),
    }
    assert rendered.evidence["citations"], "something is cited"
    assert {event for event, _, _ in events} >= {EventType.SECTION_WRITTEN, EventType.TOOL_CALL}
    assert not {name: found for name, value in given.items() if (found := find_unsafe(value))}
