"""Why a page was not read, beside `app.outgoing.errors`. All are `ToolError`s; no message repeats words of the page's server."""

from app.domain.errors import ToolError


class DisallowedByRobots(ToolError):
    """The site's robots.txt does not want this page read."""


class PageRefused(ToolError):
    """The server answered with something that cannot be used: a status, a type, a size, a redirect."""
