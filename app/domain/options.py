"""A reader's options for a run beside the question: how the report is written, and what is searched."""

import re
from datetime import date
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from app.domain.safe_text import drop_invisible
from app.domain.value import Value

MAX_DOMAINS = 50
MAX_WRITING_TOOLS = 20
_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")


class Length(StrEnum):
    """The length of the report, relative to its effort's usual one."""

    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


class Tone(StrEnum):
    """The tone of the report. `plain`: for readers outside the field."""

    NEUTRAL = "neutral"
    ACADEMIC = "academic"
    BUSINESS = "business"
    PLAIN = "plain"


class ReportFormat(StrEnum):
    """The form of the report: sections of prose, the answer alone, a table before all else, or lists."""

    REPORT = "report"
    BRIEF = "brief"
    TABLE_FIRST = "table_first"
    BULLETS = "bullets"


class SourceKind(StrEnum):
    """The places to search: the installation's corpora, the collections that the run names, the web, scientific papers."""

    CORPORA = "corpora"
    COLLECTIONS = "collections"
    WEB = "web"
    SCHOLAR = "scholar"


def to_one_line(text: str) -> str:
    """Return the text on one line, without controls, turns of direction and invisible characters."""
    return " ".join(drop_invisible(text).split())


def check_domain_name(given: str) -> str:
    """Return a domain as it is compared: lower case, in ASCII, without scheme, port or final dot.

    Raises:
        ValueError: the text is no domain name.
    """
    text = given.strip().lower()
    try:
        host = urlsplit(text if "//" in text else f"//{text}").hostname or ""
        ascii_name = host.removeprefix("*.").strip(".").encode("idna").decode()
    except ValueError as error:
        raise ValueError(f"{given!r} is no domain; write one such as example.org") from error
    labels = ascii_name.split(".")
    if len(labels) < 2 or len(ascii_name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError(f"{given!r} is no domain; write one such as example.org")
    return ascii_name


def _remove_repeats(kinds: tuple[SourceKind, ...]) -> tuple[SourceKind, ...]:
    return tuple(dict.fromkeys(kinds))


Audience = Annotated[str, AfterValidator(to_one_line), StringConstraints(max_length=200)]
Domain = Annotated[str, StringConstraints(max_length=300), AfterValidator(check_domain_name)]
WritingTool = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,31}\.[\w./-]{1,128}$")]
"""A tool of an MCP server, `server.tool`."""


class ReportStyle(Value):
    """The style of the report. The writer chooses what is left out."""

    length: Length | None = None
    tone: Tone | None = None
    audience: Audience = ""
    format: ReportFormat | None = None


class SearchScope(Value):
    """The scope of a run's searches. Empty `sources` means all that are configured.

    The dates are inclusive; a search result without a date is outside any range. The domains hold for web addresses, their
    subdomains included; a refused one wins over an allowed one. `tools_that_write` are the tools of MCP servers that may change
    something and that the asker agreed to: no run has others of them.

    Raises:
        ValueError: the dates are in the wrong order.
    """

    sources: Annotated[tuple[SourceKind, ...], AfterValidator(_remove_repeats)] = ()
    published_from: date | None = None
    published_to: date | None = None
    domains_allowed: tuple[Domain, ...] = Field(default=(), max_length=MAX_DOMAINS)
    domains_refused: tuple[Domain, ...] = Field(default=(), max_length=MAX_DOMAINS)
    tools_that_write: tuple[WritingTool, ...] = Field(default=(), max_length=MAX_WRITING_TOOLS)

    @model_validator(mode="after")
    def _check_order(self) -> "SearchScope":
        if self.published_from and self.published_to and self.published_from > self.published_to:
            raise ValueError("published_from lies after published_to; exchange them")
        return self

    def searches(self, kind: SourceKind) -> bool:
        """Return True when this kind of source is on."""
        return not self.sources or kind in self.sources

    def holds_day(self, day: date | None) -> bool:
        """Return True when a search result of this date belongs to the run."""
        if self.published_from is None and self.published_to is None:
            return True
        return day is not None and (self.published_from or date.min) <= day <= (self.published_to or date.max)

    def holds_address(self, url: str) -> bool:
        """Return True when this address may be read. Addresses outside the web are always allowed."""
        if not url.lower().startswith(("http://", "https://")) or not (self.domains_allowed or self.domains_refused):
            return True
        try:
            host = (urlsplit(url).hostname or "").rstrip(".").encode("idna").decode().lower()
        except ValueError:
            return False
        if any(_is_within(host, domain) for domain in self.domains_refused):
            return False
        return not self.domains_allowed or any(_is_within(host, domain) for domain in self.domains_allowed)


def _is_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
