"""The services outside as the settings configure them: which are on, their addresses and their limits."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from pydantic import SecretStr

from app.domain.errors import SetupError
from app.domain.services import SERVICES, Service, ServiceKind
from app.settings import PREFIX, Settings
from retrieval.fetch.fetching import Fetcher, FetchPolicy
from retrieval.fetch.web_reader import Renderer, WebReader
from retrieval.outside import http
from retrieval.outside.entrance import Entrance
from retrieval.outside.entrance_upkeep import tend
from retrieval.outside.pages import WebPageFetcher
from retrieval.outside.ports import SharedStore
from retrieval.outside.providers_file import ProviderOptions, read_options
from retrieval.outside.scholar.arxiv import Arxiv
from retrieval.outside.scholar.crossref import Crossref
from retrieval.outside.scholar.europe_pmc import EuropePmc
from retrieval.outside.scholar.openalex import OpenAlex
from retrieval.outside.scholar.semantic_scholar import SemanticScholar
from retrieval.outside.web.brave import Brave
from retrieval.outside.web.exa import Exa
from retrieval.outside.web.jina import JinaReader
from retrieval.outside.web.ports import SearchProvider
from retrieval.outside.web.searching import OutsideSearch
from retrieval.outside.web.searxng import SearXNG
from retrieval.outside.web.serper import Serper, SerperScholar
from retrieval.outside.web.tavily import Tavily
from retrieval.ports import OutsideSearcher, PageFetcher

MadeProvider: TypeAlias = (
    Serper | SerperScholar | Brave | Tavily | Exa | SearXNG | OpenAlex | SemanticScholar | Crossref | EuropePmc | Arxiv
)
# The constructor of each service's provider. It takes the value of the setting that turns the service on.
PROVIDERS: Mapping[str, Callable[[str], MadeProvider]] = {
    "serper": Serper,
    "serper_scholar": SerperScholar,
    "brave": Brave,
    "searxng": SearXNG,
    "tavily": Tavily,
    "exa": Exa,
    "openalex": OpenAlex,
    "semantic_scholar": SemanticScholar,
    "crossref": Crossref,
    "europe_pmc": EuropePmc,
    "arxiv": lambda _: Arxiv(),
}
JINA = "jina"


@dataclass(frozen=True)
class OutsideServices:
    """The services outside that a run may use; None where nothing is configured."""

    entrance: Entrance
    web: OutsideSearcher | None = None
    papers: OutsideSearcher | None = None
    pages: PageFetcher | None = None


@asynccontextmanager
async def open_outside_services(settings: Settings, shared: SharedStore) -> AsyncIterator[OutsideServices]:
    """Open the services that are on, over one pool of connections, and tend them while the context is open.

    Raises:
        SetupError: the providers file cannot be used.
    """
    options = read_options(settings.providers_file, {*PROVIDERS, JINA})
    async with AsyncExitStack() as stack:
        exchange = await stack.enter_async_context(http.open_exchange())
        entrance = await stack.enter_async_context(tend(Entrance(shared)))

        def search(kind: ServiceKind) -> OutsideSearcher | None:
            found = list_providers(settings, options, kind)
            return OutsideSearch(kind.value, entrance, exchange, found) if found else None

        web, papers = search(ServiceKind.WEB), search(ServiceKind.PAPERS)
        pages = _jina_reader_of(settings, options, exchange)
        if pages is None and (web or papers):  # without a search no agent learns an address outside of the index
            pages = WebPageFetcher(await stack.enter_async_context(WebReader(fetch_policy_of(settings), _renderer_of(settings))))
        yield OutsideServices(entrance, web, papers, pages)


def list_providers(settings: Settings, options: Mapping[str, ProviderOptions], kind: ServiceKind) -> list[SearchProvider]:
    """Return the providers of one kind that are on; those of the providers file first, in its order."""
    named = list(options)
    services = [service for service in SERVICES if service.kind is kind and service.name in PROVIDERS]
    services.sort(key=lambda service: named.index(service.name) if service.name in named else len(named))
    return [
        apply_options(PROVIDERS[service.name](value), options.get(service.name, ProviderOptions()))
        for service in services
        if (value := setting_of(settings, service))
    ]


def setting_of(settings: Settings, service: Service) -> str:
    """Return the value of the setting that turns a service on, in clear text; empty when it is off."""
    value = getattr(settings, service.setting)
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value or "")


def apply_options(made: MadeProvider, options: ProviderOptions) -> MadeProvider:
    """Return the provider with the options of the providers file."""
    wanted = options.model_dump(exclude_none=True)
    url = wanted.pop("url", made.url)
    return replace(made, url=url.rstrip("/"), provider=replace(made.provider, **wanted))


def fetch_policy_of(settings: Settings) -> FetchPolicy:
    """Return the fetching policy, with the proxy for pages and an address for complaints where they are set."""
    who = FetchPolicy().user_agent
    agent = f"{who} (+mailto:{settings.contact_email})" if settings.contact_email else who
    return FetchPolicy(user_agent=agent, proxy=settings.page_proxy.get_secret_value() if settings.page_proxy else None)


def _renderer_of(settings: Settings) -> Callable[[Fetcher], Renderer] | None:
    if settings.browser is None:
        return None
    try:
        from retrieval.fetch.browser import PageRenderer
    except ImportError as error:
        raise SetupError("RUBRICA_BROWSER needs Playwright: `.venv/bin/pip install 'rubrica[browser]'`") from error
    return partial(PageRenderer, settings.browser)


def _jina_reader_of(
    settings: Settings, options: Mapping[str, ProviderOptions], exchange: http.HttpExchange
) -> PageFetcher | None:
    if settings.jina_api_key is None:
        return None
    reader = JinaReader(exchange, settings.jina_api_key.get_secret_value())
    wanted = options.get(JINA, ProviderOptions()).model_dump(exclude_none=True)
    url = wanted.pop("url", reader.url)
    if wanted:
        raise SetupError(f"{PREFIX}PROVIDERS_FILE: {JINA} takes no {', '.join(wanted)}: pages are limited by their hosts")
    return replace(reader, url=url.rstrip("/"))
