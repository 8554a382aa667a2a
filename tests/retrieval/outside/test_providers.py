"""Each provider: what it is sent, and what is read from answers in its form, over a real socket."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from app.domain.query import Language
from retrieval.outside import http
from retrieval.outside.failure import CallFailed, Failure
from retrieval.outside.http import HttpExchange
from retrieval.outside.services import PROVIDERS
from retrieval.outside.web.ports import SearchHit, SearchQuery, strip_markup
from retrieval.outside.web.searching import read_hits
from retrieval.outside.web.serper import Serper
from tests.retrieval.outside.provider_cases import CASES, QUERY, ProviderCase
from tests.support.outside_stub import OutsideStub, SeenRequest, answer_with, serve_outside

SAMPLES = Path(__file__).parent / "samples"
CHINESE = SearchQuery("1900年以前的关税", 5, Language.CHINESE)


ids = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.fixture
async def exchange() -> AsyncIterator[HttpExchange]:
    async with http.open_exchange() as opened:
        yield opened


async def asked(exchange: HttpExchange, stub: OutsideStub, name: str, query: SearchQuery = QUERY) -> list[SearchHit]:
    provider = replace(PROVIDERS[name]("k3y"), url=stub.url)
    return read_hits(provider, await exchange.send(provider.build_request(query)))


@ids
async def test_it_is_asked_and_read_as_its_manual_says(exchange: HttpExchange, case: ProviderCase) -> None:
    sample = (SAMPLES / (case.file or f"{case.name}.json")).read_bytes()
    async with serve_outside(answer_with(sample)) as stub:
        hits = await asked(exchange, stub, case.name)
    assert [hit.model_dump(exclude_defaults=True) for hit in hits] == [
        {key: value for key, value in hit.items() if value} for hit in case.hits
    ]
    assert case.asked(stub.seen[0])


@ids
@pytest.mark.parametrize("body", [b"", b"null", b"[]", b'{"results": 1}', b'{"error": "no"}', b"<html>", b'{"results": [{"a'])
async def test_another_form_is_garbled_and_never_an_empty_result(exchange: HttpExchange, case: ProviderCase, body: bytes) -> None:
    async with serve_outside(answer_with(body)) as stub:
        with pytest.raises(CallFailed) as failed:
            await asked(exchange, stub, case.name)
    assert failed.value.failure is Failure.GARBLED


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("serper", {"organic": []}),
        ("serper", {"searchParameters": {"q": "tolls"}, "credits": 1}),
        ("serper_scholar", {"searchParameters": {"q": "tolls"}, "organic": None}),
        ("exa", {"requestId": "1", "results": None}),
        ("brave", {"type": "search"}),
        ("brave", {"type": "search", "web": None}),
        ("brave", {"query": {"original": "tolls"}, "mixed": {}}),
        ("tavily", {"query": "tolls", "response_time": 0.4}),
        ("openalex", {"meta": {"count": 0}}),
        ("crossref", {"status": "ok", "message-type": "work-list", "message": {}}),
        ("europe_pmc", {"hitCount": 0}),
        ("tavily", {"results": []}),
        ("searxng", {"results": [], "unresponsive_engines": []}),
        ("semantic_scholar", {"total": 0, "offset": 0}),
        ("openalex", {"results": [], "meta": {"count": 0}}),
        ("crossref", {"status": "ok", "message": {"items": []}}),
        ("europe_pmc", {"hitCount": 0, "resultList": {"result": []}}),
    ],
)
async def test_nothing_found_is_an_answer(exchange: HttpExchange, name: str, empty: object) -> None:
    async with serve_outside(answer_with(empty)) as stub:
        assert await asked(exchange, stub, name) == []


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("serper", lambda r: (r.body["hl"], r.body["gl"]) == ("zh-cn", "cn")),
        ("brave", lambda r: r.query["search_lang"] == "zh-hans"),
        ("searxng", lambda r: r.query["language"] == "zh-CN"),
    ],
)
async def test_a_chinese_query_asks_for_chinese_results(
    exchange: HttpExchange, name: str, wanted: Callable[[SeenRequest], bool]
) -> None:
    async with serve_outside(answer_with((SAMPLES / f"{name}.json").read_bytes())) as stub:
        await asked(exchange, stub, name, CHINESE)
    assert wanted(stub.seen[0])


ODD_ENTRIES: tuple[object, ...] = (None, 7, "text", [], {}, {"other": 1})
LISTS = {
    "serper": ("organic",),
    "serper_scholar": ("organic",),
    "brave": ("web", "results"),
    "tavily": ("results",),
    "exa": ("results",),
    "searxng": ("results",),
    "semantic_scholar": ("data",),
    "openalex": ("results",),
    "crossref": ("message", "items"),
    "europe_pmc": ("resultList", "result"),
}


def sample_with(name: str, change: Callable[[list[dict[str, object]]], None]) -> bytes:
    """A provider's sample, whose results are changed."""
    answer = found = json.loads((SAMPLES / f"{name}.json").read_bytes())
    for key in LISTS[name]:
        found = found[key]
    change(found)
    return json.dumps(answer).encode()


@pytest.mark.parametrize("odd", ODD_ENTRIES, ids=repr)
@pytest.mark.parametrize("name", LISTS)
def test_an_odd_result_is_left_out_and_the_others_stay(name: str, odd: object) -> None:
    provider = PROVIDERS[name]("k")
    whole = read_hits(provider, (SAMPLES / f"{name}.json").read_bytes())
    assert read_hits(provider, sample_with(name, lambda results: results.insert(1, odd))) == whole  # type: ignore[arg-type]


@pytest.mark.parametrize("odd", [None, 7, True, ["x", None], {"a": None}], ids=repr)
@pytest.mark.parametrize("name", LISTS)
def test_whatever_stands_in_one_field_costs_no_other_result(name: str, odd: object) -> None:
    provider, fields = PROVIDERS[name]("k"), list[str]()
    others = read_hits(provider, sample_with(name, lambda results: fields.extend(results.pop(0))))
    for field in fields:
        read = read_hits(provider, sample_with(name, lambda results, field=field: results[0].update({field: odd})))  # type: ignore[misc]
        assert [hit for hit in read if hit in others] == others, field


def test_a_result_stays_without_the_parts_that_are_odd() -> None:
    work = {"id": "https://openalex.org/W1", "title": "Tolls", "authorships": [None, {"author": {"display_name": "A. Bent"}}]}
    (hit,) = read_hits(PROVIDERS["openalex"]("k"), json.dumps({"results": [{**work, "is_retracted": None}]}).encode())
    assert (hit.author, hit.retracted) == ("A. Bent", False)
    paper = {"title": "Tolls", "url": "https://s.example/1", "year": "1931", "externalIds": {"DOI": "10.1000/toll", "MAG": None}}
    (hit,) = read_hits(PROVIDERS["semantic_scholar"]("k"), json.dumps({"total": 1, "data": [paper]}).encode())
    assert (hit.doi, hit.published) == ("10.1000/toll", date(1931, 1, 1))


def test_a_result_without_a_title_is_known_by_its_address() -> None:
    found = {"organic": [{"title": None, "link": "https://a.example/toll", "snippet": "The toll rose."}]}
    (hit,) = read_hits(PROVIDERS["serper"]("k"), json.dumps(found).encode())
    assert (hit.title, hit.text) == ("https://a.example/toll", "The toll rose.")


async def test_addresses_that_cannot_be_opened_are_left_out(exchange: HttpExchange) -> None:
    links = ["javascript:alert(1)", "ftp://a.example", "https://a.example/a b", "https://ok.example", "", "https://ok.example"]
    links += ["https://[a.example/", "https://a\u2100b.example/", "https://"]
    found = {"organic": [{"title": "t", "link": link, "snippet": f"s{place}"} for place, link in enumerate(links)]}
    async with serve_outside(answer_with(found)) as stub:
        assert [(hit.url, hit.text) for hit in await asked(exchange, stub, "serper")] == [("https://ok.example", "s3")]


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (rb"It fell \ud83d", "It fell \ufffd"),
        (rb"\uDE00 it fell", "\ufffd it fell"),
        (rb"\ud83d\uDE00 it fell", "\U0001f600 it fell"),
        (rb"the folder C:\\ud83d", "the folder C:\\ud83d"),
    ],
)
def test_an_emoji_that_was_cut_in_two_costs_no_answer(sent: bytes, read: str) -> None:
    found = b'{"organic": [{"title": "t", "link": "https://a.example", "snippet": "' + sent + b'"}]}'
    assert [hit.text for hit in read_hits(PROVIDERS["serper"]("k"), found)] == [read]


def test_a_result_commands_nothing_and_turns_no_direction() -> None:
    sent = json.dumps({"organic": [{"title": "T\u202e\n\x1b[2Jx", "link": "https://a.example", "snippet": "It\u2066 fell.\x9b"}]})
    (hit,) = read_hits(PROVIDERS["serper"]("k"), sent.encode())
    assert (hit.title, hit.text) == ("T [2Jx", "It fell.")


def test_a_fresh_result_has_a_date_though_google_only_says_how_old_it_is() -> None:
    found = b'{"organic": [{"title": "News", "link": "https://a.example", "snippet": "It fell.", "date": "3 days ago"}]}'
    (hit,) = read_hits(Serper("k", now=lambda: datetime(2026, 3, 2, tzinfo=UTC)), found)
    assert hit.published == date(2026, 2, 27)


def test_snippets_become_plain_text() -> None:
    assert strip_markup("<p>a <b>b</b>old &amp; <jats:p>c</jats:p>  1 < 2</p>") == "a bold & c 1 < 2"


def test_a_snippet_keeps_its_powers() -> None:
    said = "1.5 × 10<sup>6</sup> cells, 2 × 10 <jats:sup>−4</jats:sup> M, 5 km<sup>2</sup>, as told.<sup>12</sup>"
    assert strip_markup(said) == "1.5 × 10^6 cells, 2 × 10^−4 M, 5 km2, as told.12"


SINCE, UNTIL = date(1990, 2, 3), date(1999, 12, 31)


@pytest.mark.parametrize(
    ("name", "both", "one"),
    [
        (
            "serper",
            lambda r: r.body["tbs"] == "cdr:1,cd_min:2/3/1990,cd_max:12/31/1999",
            lambda r: r.body["tbs"].endswith("1990"),
        ),
        ("brave", lambda r: r.query["freshness"] == "1990-02-03to1999-12-31", lambda r: "freshness" not in r.query),
        (
            "tavily",
            lambda r: (r.body["start_date"], r.body["end_date"]) == ("1990-02-03", "1999-12-31"),
            lambda r: r.body["start_date"] == "1990-02-03" and "end_date" not in r.body,
        ),
        (
            "exa",
            lambda r: r.body["endPublishedDate"] == "1999-12-31T23:59:59.999Z",
            lambda r: r.body["startPublishedDate"].startswith("1990-02-03T") and "endPublishedDate" not in r.body,
        ),
        (
            "openalex",
            lambda r: r.query["filter"] == "from_publication_date:1990-02-03,to_publication_date:1999-12-31",
            lambda r: r.query["filter"] == "from_publication_date:1990-02-03",
        ),
        (
            "semantic_scholar",
            lambda r: r.query["publicationDateOrYear"] == "1990-02-03:1999-12-31",
            lambda r: r.query["publicationDateOrYear"] == "1990-02-03:",
        ),
        (
            "crossref",
            lambda r: r.query["filter"] == "from-pub-date:1990-02-03,until-pub-date:1999-12-31",
            lambda r: r.query["filter"] == "from-pub-date:1990-02-03",
        ),
        (
            "europe_pmc",
            lambda r: r.query["query"] == f"({QUERY.text}) AND FIRST_PDATE:[1990-02-03 TO 1999-12-31]",
            lambda r: "[1990-02-03 TO 3000" in r.query["query"],
        ),
        (
            "arxiv",
            lambda r: r.query["search_query"].endswith(") AND submittedDate:[199002030000 TO 199912312359]"),
            lambda r: "[199002030000 TO 3000" in r.query["search_query"],
        ),
    ],
)
async def test_dates_are_asked_for_as_each_manual_says(
    exchange: HttpExchange, name: str, both: Callable[[SeenRequest], bool], one: Callable[[SeenRequest], bool]
) -> None:
    provider = PROVIDERS[name]("k3y")
    async with serve_outside(answer_with({})) as stub:
        for until in (UNTIL, None):
            request = replace(provider, url=stub.url).build_request(QUERY._replace(since=SINCE, until=until))
            await exchange.send(request)
    assert both(stub.seen[0])
    assert one(stub.seen[1])
