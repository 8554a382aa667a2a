"""The outside services that the product can use, and the setting that turns each on. No setting, no service."""

from enum import StrEnum
from typing import NamedTuple

from app.domain.options import SourceKind


class ServiceKind(StrEnum):
    """The purpose of a service."""

    WEB = "web"
    PAPERS = "papers"
    PAGES = "pages"
    MCP = "mcp"


class Service(NamedTuple):
    """A service by its name in settings and counts. `setting` is a field of the settings."""

    name: str
    kind: ServiceKind
    setting: str
    title: str

    @property
    def variable(self) -> str:
        """The environment variable that turns it on; empty for a service that is always on."""
        return f"RUBRICA_{self.setting.upper()}" if self.setting else ""


SERVICES = (
    Service("serper", ServiceKind.WEB, "serper_api_key", "Google by Serper"),
    Service("brave", ServiceKind.WEB, "brave_api_key", "Brave Search"),
    Service("searxng", ServiceKind.WEB, "searxng_url", "a SearXNG instance"),
    Service("tavily", ServiceKind.WEB, "tavily_api_key", "Tavily"),
    Service("exa", ServiceKind.WEB, "exa_api_key", "Exa"),
    Service("openalex", ServiceKind.PAPERS, "openalex_api_key", "OpenAlex"),
    Service("semantic_scholar", ServiceKind.PAPERS, "semantic_scholar_api_key", "Semantic Scholar"),
    Service("crossref", ServiceKind.PAPERS, "contact_email", "Crossref"),
    Service("europe_pmc", ServiceKind.PAPERS, "contact_email", "Europe PMC"),
    Service("arxiv", ServiceKind.PAPERS, "contact_email", "arXiv"),
    Service("serper_scholar", ServiceKind.PAPERS, "serper_api_key", "Google Scholar by Serper"),
    Service("jina", ServiceKind.PAGES, "jina_api_key", "Jina Reader"),
    Service("mcp", ServiceKind.MCP, "mcp_servers", "tools of MCP servers"),
)


def find_searchable(services_on: frozenset[str], *, papers_here: bool) -> frozenset[SourceKind]:
    """Return the kinds of sources that runs can search: always what is stored here, the rest where a service is on.

    `papers_here` says whether collections of papers are named, which the tool for papers searches.
    """
    kinds = {service.kind for service in SERVICES if service.name in services_on}
    there = {
        SourceKind.WEB: bool(kinds & {ServiceKind.WEB, ServiceKind.MCP}),
        SourceKind.SCHOLAR: papers_here or ServiceKind.PAPERS in kinds,
    }
    return frozenset(kind for kind in SourceKind if there.get(kind, True))
