"""Each provider: what it is sent, and what is read from answers in its form, over a real socket."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from app.domain.query import Language
from retrieval.outside import http
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.http import Http
from retrieval.outside.opening import PROVIDERS
from retrieval.web.ports import Hit, SearchQuery, plain, read_date
from retrieval.web.searching import read_hits
from tests.support.outside_stub import OutsideStub, Seen, outside, says

SAMPLES = Path(__file__).parent / "samples"
QUERY = SearchQuery("tariffs before 1900", 5)
CHINESE = SearchQuery("1900年以前的关税", 5, Language.CHINESE)


@dataclass(frozen=True)
class Case:
    """A provider's name, what its request must look like, and the hits in its sample."""

    name: str
    asked: Callable[[Seen], bool]
    hits: tuple[Mapping[str, Any], ...]
    file: str = ""


CASES = (
    Case(
        "serper",
        lambda r: (
            (r.method, r.path, r.headers["X-API-KEY"]) == ("POST", "/search", "k3y")
            and r.body == {"q": QUERY.text, "num": 5, "hl": "en"}
        ),
        (
            {
                "url": "https://a.example/tariffs",
                "title": "Tariffs & more",
                "text": "Duties rose.",
                "published": date(2021, 3, 3),
            },
            {"url": "https://b.example/", "title": "No date", "text": "More on it."},
        ),
    ),
    Case(
        "serper_scholar",
        lambda r: r.path == "/scholar" and r.body["q"] == QUERY.text,
        (
            {
                "url": "https://journal.example/1",
                "title": "Tariff history",
                "text": "We study duties.",
                "kind": "paper",
                "published": date(1998, 1, 1),
                "author": "FW Taussig",
                "venue": "Quarterly Journal",
            },
        ),
    ),
    Case(
        "brave",
        lambda r: (
            r.path == "/res/v1/web/search"
            and r.headers["X-Subscription-Token"] == "k3y"
            and (r.query["q"], r.query["count"], r.query["search_lang"]) == (QUERY.text, "5", "en")
        ),
        (
            {
                "url": "https://a.example/",
                "title": "The tariff",
                "text": "What a tariff is.\nAnother snippet.",
                "published": date(2023, 6, 5),
            },
        ),
    ),
    Case(
        "tavily",
        lambda r: r.headers["Authorization"] == "Bearer k3y" and r.body["query"] == QUERY.text and r.body["max_results"] == 5,
        ({"url": "https://a.example/", "title": "Tariffs", "text": "Content made for models."},),
    ),
    Case(
        "exa",
        lambda r: r.headers["x-api-key"] == "k3y" and r.body["numResults"] == 5 and "text" in r.body["contents"],
        (
            {
                "url": "https://a.example/",
                "title": "https://a.example/",
                "text": "Beginning of the page.",
                "published": date(2020, 2, 1),
                "author": "A. Writer",
            },
        ),
    ),
    Case(
        "searxng",
        lambda r: r.path == "/search" and r.query == {"q": QUERY.text, "format": "json", "language": "en"},
        ({"url": "https://a.example/", "title": "Found", "text": "By several engines.", "published": date(2024, 1, 2)},),
    ),
    Case(
        "semantic_scholar",
        lambda r: r.path == "/graph/v1/paper/search" and r.headers["x-api-key"] == "k3y" and "abstract" in r.query["fields"],
        (
            {
                "url": "https://doi.org/10.1000/abc",
                "title": "Duties",
                "text": "An abstract.",
                "kind": "paper",
                "published": date(2001, 5, 6),
                "author": "A. One, B. Two",
                "doi": "10.1000/abc",
                "venue": "Economic History",
            },
            {
                "url": "https://arxiv.org/abs/2101.00001",
                "title": "A preprint",
                "text": "In one sentence.",
                "kind": "paper",
                "published": date(2021, 1, 1),
                "venue": "arXiv.org",
                "preprint": True,
            },
        ),
    ),
    Case(
        "openalex",
        lambda r: r.path == "/works" and (r.query["search"], r.query["api_key"], r.query["per_page"]) == (QUERY.text, "k3y", "5"),
        (
            {
                "url": "https://doi.org/10.1000/xyz",
                "title": "A retracted work",
                "text": "Duties rose and fell",
                "kind": "paper",
                "published": date(2010, 7, 1),
                "author": "C. Three",
                "doi": "10.1000/xyz",
                "venue": "Annals",
                "licence": "cc-by",
                "retracted": True,
            },
            {
                "url": "https://openalex.org/W2",
                "title": "Early version",
                "text": "Early version",
                "kind": "paper",
                "preprint": True,
            },
        ),
    ),
    Case(
        "crossref",
        lambda r: r.path == "/works" and (r.query["query"], r.query["rows"], r.query["mailto"]) == (QUERY.text, "5", "k3y"),
        (
            {
                "url": "https://doi.org/10.1000/q",
                "title": "On duties",
                "text": "Abstract Duties are old.",
                "kind": "paper",
                "published": date(1999, 4, 1),
                "author": "Ida Tarbell, The Commission",
                "doi": "10.1000/q",
                "venue": "Journal of Tariffs",
                "licence": "https://creativecommons.org/licenses/by/4.0/",
                "retracted": True,
            },
            {
                "url": "https://doi.org/10.1000/p",
                "title": "Posted",
                "text": "Posted",
                "kind": "paper",
                "doi": "10.1000/p",
                "preprint": True,
            },
        ),
    ),
    Case(
        "europe_pmc",
        lambda r: r.path == "/europepmc/webservices/rest/search" and (r.query["resultType"], r.query["email"]) == ("core", "k3y"),
        (
            {
                "url": "https://doi.org/10.1000/pmc",
                "title": "A trial",
                "text": "Background It helped.",
                "kind": "paper",
                "published": date(2015, 2, 3),
                "author": "Doe J, Roe R.",
                "doi": "10.1000/pmc",
                "venue": "The Journal",
                "licence": "cc by",
                "retracted": True,
            },
            {
                "url": "https://europepmc.org/article/PPR/PPR1",
                "title": "Early trial",
                "text": "It may help.",
                "kind": "paper",
                "published": date(2024, 1, 1),
                "preprint": True,
            },
        ),
    ),
    Case(
        "arxiv",
        lambda r: r.path == "/api/query" and r.query["search_query"] == "all:tariffs OR all:before OR all:1900",
        (
            {
                "url": "https://arxiv.org/abs/2101.00001",
                "title": "Duties in models",
                "text": "We model duties & more.",
                "kind": "paper",
                "published": date(2021, 1, 1),
                "author": "A. One, B. Two",
                "venue": "arXiv",
                "preprint": True,
            },
            {
                "url": "https://arxiv.org/abs/hep-th/9901001",
                "title": "Published since",
                "text": "Old but good.",
                "kind": "paper",
                "published": date(1999, 1, 2),
                "author": "C. Three",
                "doi": "10.1000/pub",
                "venue": "Journal 1 (2000) 2",
                "retracted": True,
            },
        ),
        "arxiv.xml",
    ),
)
NAMED = {case.name: case for case in CASES}
ids = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture
async def exchange() -> AsyncIterator[Http]:
    async with http.opened() as opened:
        yield opened


async def asked(exchange: Http, stub: OutsideStub, name: str, query: SearchQuery = QUERY) -> list[Hit]:
    provider = replace(PROVIDERS[name]("k3y"), url=stub.url)
    return read_hits(provider, await exchange.send(provider.request(query)))


@ids
async def test_it_is_asked_and_read_as_its_manual_says(exchange: Http, case: Case) -> None:
    sample = (SAMPLES / (case.file or f"{case.name}.json")).read_bytes()
    async with outside(says(sample)) as stub:
        hits = await asked(exchange, stub, case.name)
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {key: value for key, value in hit.items() if value} for hit in case.hits
    ]
    assert case.asked(stub.seen[0])


@ids
@pytest.mark.parametrize("body", [b"", b"null", b"[]", b'{"results": 1}', b'{"error": "no"}', b"<html>", b'{"results": [{"a'])
async def test_another_form_is_garbled_and_never_an_empty_result(exchange: Http, case: Case, body: bytes) -> None:
    async with outside(says(body)) as stub:
        with pytest.raises(CallFailed) as failed:
            await asked(exchange, stub, case.name)
    assert failed.value.failure is Failure.GARBLED


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("serper", {"organic": []}),
        ("brave", {"type": "search"}),
        ("tavily", {"results": []}),
        ("searxng", {"results": [], "unresponsive_engines": [["google", "timeout"]]}),
        ("semantic_scholar", {"total": 0, "offset": 0}),
        ("openalex", {"results": [], "meta": {"count": 0}}),
        ("crossref", {"status": "ok", "message": {"items": []}}),
        ("europe_pmc", {"hitCount": 0, "resultList": {"result": []}}),
    ],
)
async def test_nothing_found_is_an_answer(exchange: Http, name: str, empty: object) -> None:
    async with outside(says(empty)) as stub:
        assert await asked(exchange, stub, name) == []


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("serper", lambda r: (r.body["hl"], r.body["gl"]) == ("zh-cn", "cn")),
        ("brave", lambda r: r.query["search_lang"] == "zh-hans"),
        ("searxng", lambda r: r.query["language"] == "zh-CN"),
    ],
)
async def test_a_chinese_query_asks_for_chinese_results(exchange: Http, name: str, wanted: Callable[[Seen], bool]) -> None:
    async with outside(says((SAMPLES / f"{name}.json").read_bytes())) as stub:
        await asked(exchange, stub, name, CHINESE)
    assert wanted(stub.seen[0])


async def test_addresses_that_cannot_be_opened_are_left_out(exchange: Http) -> None:
    links = ["javascript:alert(1)", "ftp://a.example", "https://a.example/a b", "https://ok.example", "", "https://ok.example"]
    found = {"organic": [{"title": "t", "link": link, "snippet": f"s{place}"} for place, link in enumerate(links)]}
    async with outside(says(found)) as stub:
        assert [(hit.url, hit.text) for hit in await asked(exchange, stub, "serper")] == [("https://ok.example", "s3")]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2024-05-17T10:00:00Z", date(2024, 5, 17)),
        ("2024-05", date(2024, 5, 1)),
        (2024, date(2024, 1, 1)),
        ("Mar 3, 2021", date(2021, 3, 3)),
        ("3 days ago", None),
        ("2024-13-45", None),
        (None, None),
    ],
)
def test_dates(said: str | int | None, meant: date | None) -> None:
    assert read_date(said) == meant


def test_snippets_become_plain_text() -> None:
    assert plain("<p>a <b>b</b>old &amp; <jats:p>c</jats:p>  1 < 2</p>") == "a bold & c 1 < 2"
