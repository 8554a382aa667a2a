"""Reasons why a page is not read, besides `app.outgoing.errors`. No message repeats words of the page's server."""

from app.domain.errors import ToolError


class DisallowedByRobots(ToolError):
    """The site's robots.txt disallows this page."""


class PageRefused(ToolError):
    """The server's answer cannot be used for its status, type, size or redirect."""
