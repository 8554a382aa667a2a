"""Searches over several providers: who is asked first, who next, and what the agent is told."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.domain.errors import SetupError, ToolError, ToolUnavailable
from app.domain.evidence import Source, snapshot_hash
from app.domain.query import Language, detect_language
from app.domain.services import SERVICES, ServiceKind
from app.settings import Settings, read_settings
from retrieval.outside import http
from retrieval.outside.entrance import Entrance
from retrieval.outside.http import HttpExchange
from retrieval.outside.memory import MemorySharedStore
from retrieval.outside.pages import PAGE_PROVIDER, OutsideReader, WebPageFetcher
from retrieval.outside.providers_file import read_options
from retrieval.outside.services import PROVIDERS, list_providers, open_outside_services
from retrieval.outside.web.jina import JinaReader
from retrieval.outside.web.ports import SearchProvider, SearchQuery
from retrieval.outside.web.searching import OutsideSearch, sort_providers
from retrieval.ports import Document
from tests.support.outside_stub import OutsideStub, answer_after, answer_with, refuse_with, serve_outside
from tests.workflows.small_corpus import SmallCorpus

FOUND = {
    "title": "A page",
    "url": "https://a.example",
    "link": "https://a.example",
    "content": "What it says.",
    "snippet": "Its words.",
}
SERPER, TAVILY = answer_with({"organic": [FOUND]}), answer_with({"results": [FOUND]})


@pytest.fixture
async def exchange() -> AsyncIterator[HttpExchange]:
    async with http.open_exchange() as running:
        yield running


@pytest.fixture
async def stubs() -> AsyncIterator[tuple[OutsideStub, OutsideStub]]:
    async with serve_outside(SERPER) as serper, serve_outside(TAVILY) as tavily:
        yield serper, tavily


@pytest.fixture
def shared() -> MemorySharedStore:
    return MemorySharedStore()


@pytest.fixture
def web(stubs: tuple[OutsideStub, OutsideStub], exchange: HttpExchange, shared: MemorySharedStore) -> OutsideSearch:
    made = [PROVIDERS[name]("k3y") for name in ("serper", "tavily")]
    there = [replace(p, url=stub.url, provider=replace(p.provider, attempts=2)) for p, stub in zip(made, stubs, strict=True)]
    return OutsideSearch("web", Entrance(shared, draw=lambda: 0.0), exchange, there)


async def test_a_result_is_a_passage_whose_snapshot_is_kept(web: OutsideSearch, shared: MemorySharedStore) -> None:
    passages, note = await web.search("tariffs", 5)
    (passage,) = passages
    assert (passage.text, passage.start, passage.end) == ("Its words.", 0, 10)
    assert passage.source.snapshot == snapshot_hash("Its words.")
    assert await shared.text(passage.source.snapshot) == "Its words."
    assert passage.source.fetched is not None
    assert note == "web: serper"


async def test_the_next_provider_is_asked_when_one_fails_or_finds_nothing(
    web: OutsideSearch, stubs: tuple[OutsideStub, OutsideStub]
) -> None:
    stubs[0].otherwise = refuse_with(500)
    passages, note = await web.search("tariffs", 5)
    assert passages[0].text == "What it says."
    assert note == "web: tavily; serper: status 500 (2 attempts)"
    stubs[0].otherwise = answer_with({"organic": []})
    assert (await web.search("duties", 5)).note == "web: tavily; serper: nothing found"


async def test_when_all_fail_the_agent_hears_why(web: OutsideSearch, stubs: tuple[OutsideStub, OutsideStub]) -> None:
    stubs[0].otherwise, stubs[1].otherwise = refuse_with(500), refuse_with(401, "bad key")
    with pytest.raises(ToolError) as failed:
        await web.search("tariffs", 5)
    assert "serper: status 500 (2 attempts)" in str(failed.value)
    assert "tavily: status 401: bad key; check its key" in str(failed.value)


async def test_a_searxng_that_gives_no_json_is_told_with_what_to_set(exchange: HttpExchange) -> None:
    async with serve_outside(refuse_with(403, "Forbidden")) as stub:
        web = OutsideSearch("web", Entrance(MemorySharedStore()), exchange, [PROVIDERS["searxng"](stub.url)])
        with pytest.raises(ToolError, match=r"status 403: Forbidden; list `json` in its `search\.formats`"):
            await web.search("tariffs", 5)


async def test_nothing_found_anywhere_is_no_failure(web: OutsideSearch, stubs: tuple[OutsideStub, OutsideStub]) -> None:
    stubs[0].otherwise, stubs[1].otherwise = answer_with({"organic": []}), answer_with({"results": []})
    assert await web.search("tariffs", 5) == ((), "serper: nothing found; tavily: nothing found")


async def test_a_searxng_whose_engines_are_blocked_has_not_found_nothing(exchange: HttpExchange) -> None:
    blocked = {"results": [], "unresponsive_engines": [["google", "Suspended: CAPTCHA"], ["brave", "too many requests"]]}
    async with serve_outside(answer_with(blocked)) as stub:
        made = PROVIDERS["searxng"](stub.url)
        once = replace(made, provider=replace(made.provider, attempts=1, per_second=100))
        web = OutsideSearch("web", Entrance(MemorySharedStore()), exchange, [once])
        with pytest.raises(ToolError, match=r"engines do not answer: google \(Suspended: CAPTCHA\), brave \(too many requests\)"):
            await web.search("tariffs", 5)
        stub.otherwise = answer_with({"results": [FOUND], "unresponsive_engines": [["brave", "too many requests"]]})
        assert len((await web.search("tariffs", 5)).passages) == 1, "what was not searched was kept as empty"


async def test_the_agent_hears_how_many_results_were_left_out_also_of_a_kept_answer(
    web: OutsideSearch, stubs: tuple[OutsideStub, OutsideStub]
) -> None:
    stubs[0].otherwise = answer_with({"organic": [{"title": "No address"}, FOUND, None, {"link": "ftp://a.example"}]})
    for _ in range(2):
        passages, note = await web.search("tariffs", 5)
        assert [passage.text for passage in passages] == ["Its words."]
        assert note == "web: serper (left out as unreadable: 3)"
    assert len(stubs[0].seen) == 1
    stubs[0].otherwise = answer_with({"organic": [None]})
    assert (await web.search("duties", 5)).note == "web: tavily; serper: nothing found (left out as unreadable: 1)"


async def test_the_age_of_a_kept_result_is_told(stubs: tuple[OutsideStub, OutsideStub], exchange: HttpExchange) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    provider = replace(PROVIDERS["serper"]("k"), url=stubs[0].url)
    web = OutsideSearch("web", Entrance(MemorySharedStore(now=lambda: now[0])), exchange, [provider])
    first = await web.search("tariffs", 5)
    now[0] += timedelta(hours=3)
    second = await web.search("tariffs", 5)
    assert second.note == "web: serper (kept for 3 h)"
    assert second.passages == first.passages
    now[0] += timedelta(days=2)
    assert (await web.search("tariffs", 5)).note == "web: serper"
    assert len(stubs[0].seen) == 2


def test_the_order_follows_language_and_form_of_the_query() -> None:
    web = [PROVIDERS[name]("k") for name in ("tavily", "serper", "exa", "searxng")]
    papers = [PROVIDERS[name]("k") for name in ("openalex", "crossref", "arxiv")]

    def first(kind: Sequence[SearchProvider], text: str) -> str:
        return sort_providers(kind, SearchQuery(text, 5, detect_language(text)))[0].provider.name

    assert first(web, "tariffs 1890") == "tavily"
    assert first(web, "一九三〇年的关税法") == "serper"
    assert first(web, 'site:loc.gov "McKinley tariff"') == "serper"
    assert first(web, "how did the people who opposed the tariff explain what it did to prices") == "tavily"
    assert first(papers, "tariffs") == "openalex"
    assert first(papers, "doi 10.1000/abc.1") == "crossref"
    assert first(papers, "arXiv:2101.00001") == "arxiv"
    assert Language.CHINESE not in PROVIDERS["arxiv"]("k").languages


def test_no_key_no_provider() -> None:
    assert [list_providers(Settings(), {}, kind) for kind in ServiceKind] == [[], [], [], []]
    given = read_settings(
        {"RUBRICA_SERPER_API_KEY": "s", "RUBRICA_CONTACT_EMAIL": "me@example.org", "RUBRICA_SEARXNG_URL": "http://x"}
    )
    assert [p.provider.name for p in list_providers(given, {}, ServiceKind.WEB)] == ["serper", "searxng"]
    assert [p.provider.name for p in list_providers(given, {}, ServiceKind.PAPERS)] == [
        "crossref",
        "europe_pmc",
        "arxiv",
        "serper_scholar",
    ]
    assert all(service.setting in Settings.model_fields for service in SERVICES)


def test_a_providers_file_sets_order_address_and_limits(tmp_path: Path) -> None:
    file = tmp_path / "providers.toml"
    file.write_text('[exa]\nper_second = 50\nburst = 10\n\n[serper]\nurl = "https://proxy.example/serper/"\n')
    given = read_settings({f"RUBRICA_{name}_API_KEY": "k" for name in ("SERPER", "BRAVE", "EXA")})
    found = list_providers(given, read_options(file, set(PROVIDERS)), ServiceKind.WEB)
    assert [p.provider.name for p in found] == ["exa", "serper", "brave"]
    assert (found[0].provider.per_second, found[0].provider.burst) == (50, 10)
    assert found[1].build_request(SearchQuery("x", 1)).url == "https://proxy.example/serper/search"
    file.write_text("[bing]\nburst = 1\n")
    with pytest.raises(SetupError, match="names bing; the providers are arxiv"):
        read_options(file, set(PROVIDERS))
    file.write_text("[exa]\nburst = 0\n")
    with pytest.raises(SetupError, match="greater than or equal to 1"):
        read_options(file, set(PROVIDERS))


async def test_limits_of_jina_are_refused_rather_than_ignored(tmp_path: Path) -> None:
    file = tmp_path / "providers.toml"
    given = read_settings({"RUBRICA_JINA_API_KEY": "k", "RUBRICA_PROVIDERS_FILE": str(file)})
    file.write_text("[jina]\nper_second = 2\nburst = 5\n")
    with pytest.raises(SetupError, match="jina takes no per_second, burst"):
        async with open_outside_services(given, MemorySharedStore()):
            pass
    file.write_text('[jina]\nurl = "https://proxy.example/jina/"\n')
    async with open_outside_services(given, MemorySharedStore()) as some:
        assert isinstance(some.pages, JinaReader)
        assert some.pages.url == "https://proxy.example/jina"


async def test_pages_are_read_by_jina_where_the_index_has_none(exchange: HttpExchange, shared: MemorySharedStore) -> None:
    page = {
        "code": 200,
        "data": {"url": "https://a.example/", "title": "A", "content": "# A\n\nIts whole text.", "usage": {"tokens": 5}},
    }
    async with serve_outside(answer_with(page)) as stub:
        corpus = SmallCorpus()
        reader = OutsideReader(
            corpus, Entrance(shared), JinaReader(exchange, "k3y", stub.url), replace(PAGE_PROVIDER, per_second=100)
        )
        document = await reader.read("https://a.example/")
        assert document.text == "# A\n\nIts whole text."
        assert await shared.text(document.source.snapshot) == document.text
        assert (stub.seen[0].body, stub.seen[0].headers["Authorization"]) == ({"url": "https://a.example/"}, "Bearer k3y")
        assert (await reader.read("https://example.org/1887")).source.title == "Annual Message 1887"
        for url in (
            "http://127.0.0.1/",
            "http://[::1]/",
            "http://localhost/",
            "http://10.0.0.7/x",
            "http://box.local/",
            "http://printer/",
            "http://box.local./",
            "http://nas.lan/",
            "http://0x7f.1/",
            "http://name:secret@a.example/",
            "http://a.example:5432/",
        ):
            with pytest.raises(ToolError, match="not an address of the public web"):
                await reader.read(url)
        for url in ("file:///etc/passwd", "https://[a.example/"):
            with pytest.raises(ToolError):
                await reader.read(url)
        assert len(stub.seen) == 1


async def test_a_reader_of_pages_is_tried_again_when_its_server_is_away_and_not_when_it_refuses(
    shared: MemorySharedStore,
) -> None:
    class Web:
        asked: list[str] = []  # noqa: RUF012

        async def read(self, url: str) -> Document:
            self.asked.append(url)
            if url.endswith("refused"):
                raise ToolError("robots.txt does not want it")
            if len(self.asked) < 3:
                raise ToolUnavailable("away")
            return Document(source=Source(url=url, title="A", snapshot=snapshot_hash("A page.")), text="A page.")

    web = Web()
    fast = replace(PAGE_PROVIDER, per_second=100)
    reader = OutsideReader(SmallCorpus(), Entrance(shared, draw=lambda: 0.0), WebPageFetcher(web), fast)
    assert (await reader.read("https://a.example/x")).text == "A page."
    assert len(web.asked) == 3
    assert (await reader.read("https://a.example/x")).source.fetched is not None
    with pytest.raises(ToolError, match=r"page: robots.txt does not want it"):
        await reader.read("https://a.example/refused")
    assert len(web.asked) == 4


async def test_slow_providers_make_room_for_the_next(stubs: tuple[OutsideStub, OutsideStub], exchange: HttpExchange) -> None:
    stubs[0].otherwise = answer_after(3, SERPER)
    made = [replace(PROVIDERS[name]("k"), url=stub.url) for name, stub in zip(("serper", "tavily"), stubs, strict=True)]
    slow = replace(made[0], provider=replace(made[0].provider, attempts=1, attempt_limit=timedelta(seconds=0.2)))
    web = OutsideSearch("web", Entrance(MemorySharedStore()), exchange, [slow, made[1]])
    assert (await web.search("tariffs", 5)).note == "web: tavily; serper: no answer within 0.2 s"


async def test_opened_from_settings_only_what_is_configured_is_there() -> None:
    async with open_outside_services(Settings(), MemorySharedStore()) as nothing:
        assert (nothing.web, nothing.papers, nothing.pages) == (None, None, None)
    given = read_settings({"RUBRICA_BRAVE_API_KEY": "k", "RUBRICA_JINA_API_KEY": "k"})
    async with open_outside_services(given, MemorySharedStore()) as some:
        assert (some.web is None, some.papers, some.pages is None) == (False, None, False)
