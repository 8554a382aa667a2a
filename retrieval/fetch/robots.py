"""The rules of a site's robots.txt (RFC 9309)."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from protego import Protego
from yarl import URL

from app.outgoing.errors import AddressRefused, PageUnavailable
from retrieval.fetch.errors import DisallowedByRobots, PageRefused
from retrieval.fetch.fetching import FetchedPage, Fetcher

KEPT_FOR = timedelta(hours=24)
UNREACHABLE_KEPT_FOR = timedelta(minutes=2)
MAX_SITES = 2_000
PARSED_BYTES = 500 << 10
REDIRECTS = 5


@dataclass(frozen=True, slots=True)
class _SiteRules:
    """A site's rules, and the time until which they hold. `rules` None: the site does not answer, so allow nothing (2.3.1.4)."""

    rules: Protego | None
    until: float


class Robots:
    """The rules of sites, each asked once a day. A missing file allows everything, an unreachable one nothing.

    `clock` gives seconds.
    """

    def __init__(self, fetcher: Fetcher, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._sites: OrderedDict[str, _SiteRules] = OrderedDict()
        self._product = fetcher.policy.user_agent.partition("/")[0]

    async def check(self, url: URL) -> None:
        """Require that the site allows this address.

        Raises:
            DisallowedByRobots: it does not.
            PageUnavailable: the site cannot be asked now.
        """
        rules = (await self._rules_of(url)).rules
        if rules is None:
            raise PageUnavailable("the site's robots.txt could not be read, so nothing of the site may be read now")
        if not rules.can_fetch(str(url), self._product):
            raise DisallowedByRobots("the site's robots.txt does not allow this page to be read")

    async def _rules_of(self, url: URL) -> _SiteRules:
        site = str(url.origin())
        known = self._sites.get(site)
        if known is None or known.until <= self._clock():
            known = await self._ask_site(url)
            self._sites[site] = known
            if len(self._sites) > MAX_SITES:
                self._sites.popitem(last=False)
        return known

    async def _ask_site(self, url: URL) -> _SiteRules:
        now = self._clock()
        try:
            text = await self._read_file(url.origin() / "robots.txt")
        except PageUnavailable:
            return _SiteRules(None, now + UNREACHABLE_KEPT_FOR.total_seconds())
        return _SiteRules(Protego.parse(text), now + KEPT_FOR.total_seconds())

    async def _read_file(self, url: URL) -> str:
        """Return the file's text; empty where the site has none or it cannot be used (statuses 4xx, too many redirects)."""
        try:
            for _ in range(REDIRECTS + 1):
                answer = await self._fetcher.fetch_once(url)
                if isinstance(answer, FetchedPage):
                    return answer.body[:PARSED_BYTES].decode("utf-8", errors="replace").lstrip("\ufeff")
                url = answer
        except (PageRefused, AddressRefused):
            return ""  # the request for the page is checked again, and refused then too
        return ""
