"""The request each provider must be sent, and the hits in its sample."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from retrieval.outside.web.ports import SearchQuery
from tests.support.outside_stub import SeenRequest

QUERY = SearchQuery("tariffs before 1900", 5)


@dataclass(frozen=True)
class ProviderCase:
    """A provider's name, what its request must look like, and the hits in its sample."""

    name: str
    asked: Callable[[SeenRequest], bool]
    hits: tuple[Mapping[str, Any], ...]
    file: str = ""


CASES = (
    ProviderCase(
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
    ProviderCase(
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
    ProviderCase(
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
    ProviderCase(
        "tavily",
        lambda r: r.headers["Authorization"] == "Bearer k3y" and r.body["query"] == QUERY.text and r.body["max_results"] == 5,
        ({"url": "https://a.example/", "title": "Tariffs", "text": "Content made for models."},),
    ),
    ProviderCase(
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
    ProviderCase(
        "searxng",
        lambda r: r.path == "/search" and r.query == {"q": QUERY.text, "format": "json", "language": "en"},
        ({"url": "https://a.example/", "title": "Found", "text": "By several engines.", "published": date(2024, 1, 2)},),
    ),
    ProviderCase(
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
    ProviderCase(
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
    ProviderCase(
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
    ProviderCase(
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
    ProviderCase(
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
