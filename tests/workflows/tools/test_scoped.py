"""What a run may read holds for every tool, whatever is behind it: dates, domains, and which sources are on at all."""

from collections.abc import Sequence
from datetime import date

import pytest
from pydantic import ValidationError

from app.domain.errors import ToolError
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.options import SearchScope, SourceKind
from app.domain.query import ResearchQuery
from retrieval.outside.web.brave import Brave
from retrieval.outside.web.ports import SearchQuery
from retrieval.ports import Document, OutsideResult, SearchFilter
from workflows.agents.ports import Tool
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import OutsideTools, build_toolbox, corpora_of_query

PAGES = {
    "https://www.who.int/flu": date(2021, 5, 1),
    "https://who.int.evil.example/flu": date(2021, 5, 2),
    "https://blog.example/flu": date(2021, 5, 3),
    "https://who.int/old": date(2001, 1, 1),
    "https://who.int/undated": None,
    "https://moved.who.int/": date(2021, 6, 1),
}


def passage(url: str, published: date | None) -> Passage:
    text = f"What {url} says about influenza."
    source = Source(url=url, title=url, snapshot=snapshot_hash(text), published=published)
    return Passage(source=source, text=text, start=0, end=len(text))


class World:
    """An index, a web and a reader in one; keeps what was asked of it."""

    def __init__(self) -> None:
        self.filters: list[SearchFilter] = []
        self.queries: list[str] = []
        self.read_pages: list[str] = []
        self.asked_between: list[tuple[date | None, date | None]] = []

    async def search(self, query: str, limit: int, where: SearchFilter | None = None) -> Sequence[Passage]:
        assert where is not None
        self.filters.append(where)
        return [passage("doc:flu", date(2021, 1, 1))]

    async def read(self, url: str) -> Document:
        self.read_pages.append(url)
        final = "https://elsewhere.example/" if "moved" in url else url
        found = passage(final, PAGES.get(url))
        return Document(source=found.source, text=found.text)


class Web:
    def __init__(self, world: World) -> None:
        self.world = world

    def between(self, since: date | None, until: date | None) -> "Web":
        self.world.asked_between.append((since, until))
        return self

    async def search(self, text: str, limit: int) -> OutsideResult:
        self.world.queries.append(text)
        return OutsideResult(tuple(passage(url, day) for url, day in PAGES.items()), "web: test")


def tools_of(world: World, query: ResearchQuery, scientific: tuple[str, ...] = ("papers",)) -> dict[str, Tool]:
    corpora = corpora_of_query(query, scientific)
    outside = OutsideTools(Web(world), Web(world))
    return build_toolbox(world, world, corpora, ToolMemory(DictToolStore()), outside=outside, scope=query.scope)


def asking(**scope: object) -> ResearchQuery:
    return ResearchQuery(question="influenza?", scope=SearchScope(**scope))


async def test_domains_and_dates_are_enforced_on_every_result() -> None:
    world = World()
    query = asking(domains_allowed=("WHO.int",), published_from=date(2020, 1, 1), published_to=date(2021, 12, 31))
    tools = tools_of(world, query)
    result = await tools["search"].call({"query": "flu"})
    found = {p.source.url for p in result.passages}
    assert found == {"doc:flu", "https://www.who.int/flu", "https://moved.who.int/"}
    assert "4 passages were left out" in result.note
    assert world.queries == ["site:who.int flu"]
    assert world.asked_between == [(date(2020, 1, 1), date(2021, 12, 31))] * 2
    assert {(f.published_from, f.published_to) for f in world.filters} == {(date(2020, 1, 1), date(2021, 12, 31))}
    papers = await tools["scholar"].call({"query": "flu"})
    assert {p.source.url for p in papers.passages} == found
    assert world.filters[-1].collections == ("papers",)
    assert world.filters[-1].published_from == date(2020, 1, 1)


async def test_a_long_question_keeps_the_domains_within_what_services_take() -> None:
    world, brave = World(), Brave("k")
    tools = tools_of(world, asking(domains_allowed=("who.int", "cdc.gov", "nih.gov"), domains_refused=("blog.example",)))
    await tools["search"].call({"query": "why did influenza spread " * 30})
    (asked,) = world.queries
    sent = brave.build_request(SearchQuery(asked, 5)).params["q"]
    assert sent.startswith("site:who.int OR site:cdc.gov OR site:nih.gov -site:blog.example why did influenza spread")
    assert len(asked) <= 400
    long = tuple(f"{'x' * 60}{number}.example" for number in range(4))
    await tools_of(world, asking(domains_allowed=long[:2], domains_refused=long))["search"].call({"query": "flu?"})
    assert world.queries[-1] == f"site:{long[0]} OR site:{long[1]} flu?"


async def test_a_page_of_another_domain_is_not_even_asked_for_and_a_redirect_brings_nothing() -> None:
    world = World()
    browse = tools_of(world, asking(domains_allowed=("who.int",), domains_refused=("old.who.int",)))["browse"]
    for url in (
        "https://blog.example/flu",
        "http://who.int@blog.example/",
        "https://x.old.who.int/",
        "https://who.int.evil.example/",
    ):
        with pytest.raises(ToolError, match="may not read"):
            await browse.call({"url": url})
    assert world.read_pages == []
    assert (await browse.call({"url": "https://who.int/undated"})).passages
    moved = await browse.call({"url": "https://moved.who.int/"})
    assert moved.passages == ()
    assert "left out" in moved.note


@pytest.mark.parametrize(
    ("sources", "collections", "searched", "tools", "web"),
    [
        (("web",), (), [], {"search", "browse"}, 1),
        (("corpora",), (), [()], {"search", "browse"}, 0),
        (("corpora", "scholar"), (), [()], {"search", "scholar", "browse"}, 0),
        (("collections",), ("mine",), [("mine",)], {"search", "browse"}, 0),
        (("collections", "corpora", "web"), ("mine",), [("mine",), ()], {"search", "browse"}, 1),
        ((), ("mine",), [("mine",)], {"search", "scholar", "browse"}, 1),
    ],
)
async def test_each_kind_of_source_can_be_switched(
    sources: tuple[str, ...], collections: tuple[str, ...], searched: list[tuple[str, ...]], tools: set[str], web: int
) -> None:
    world = World()
    scope = SearchScope(sources=tuple(map(SourceKind, sources)), domains_refused=("nowhere.example",))
    box = tools_of(world, ResearchQuery(question="flu?", collections=collections, scope=scope))
    assert set(box) == tools
    await box["search"].call({"query": "flu"})
    assert [where.collections for where in world.filters] == searched
    assert len(world.queries) == web


async def test_scholar_alone_leaves_no_general_search() -> None:
    world = World()
    assert set(tools_of(world, asking(sources=(SourceKind.SCHOLAR,)))) == {"scholar", "browse"}
    alone = build_toolbox(
        world, world, corpora_of_query(asking(sources=("web",)), ()), ToolMemory(DictToolStore()), scope=SearchScope()
    )  # type: ignore[arg-type]
    with pytest.raises(ToolError, match="none of the sources"):
        await alone["search"].call({"query": "flu"})


def test_options_that_cannot_be_are_refused_with_what_to_do() -> None:
    with pytest.raises(ValidationError, match="exchange them"):
        SearchScope(published_from=date(2021, 1, 1), published_to=date(2020, 1, 1))
    for domain in ("localhost", "a b.example", "", "-x.example", "http://", "[::1]", "x" * 70 + ".example"):
        with pytest.raises(ValidationError, match="is no domain"):
            SearchScope(domains_allowed=(domain,))
    assert SearchScope(domains_allowed=("https://Bücher.example:8080/x", "*.who.int.")).domains_allowed == (
        "xn--bcher-kva.example",
        "who.int",
    )
    with pytest.raises(ValidationError, match="leaves them out"):
        ResearchQuery(question="x?", collections=("mine",), scope=SearchScope(sources=(SourceKind.WEB,)))
    with pytest.raises(ValidationError, match="none is named"):
        ResearchQuery(question="x?", scope=SearchScope(sources=(SourceKind.COLLECTIONS,)))


def test_a_query_stored_before_there_were_options_still_loads() -> None:
    old = """{"question":"why tariffs?","language":"en","system":"minddr","effort":"standard","collections":[],
              "budget":{"max_tokens":null,"max_cost_microusd":null,"max_seconds":null}}"""
    assert ResearchQuery.model_validate_json(old) == ResearchQuery(question="why tariffs?")
