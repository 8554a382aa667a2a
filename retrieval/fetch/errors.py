"""Why a page was not read. All are `ToolError`s; no message repeats words of the page's server."""

from datetime import timedelta

from app.domain.errors import ToolError, ToolUnavailable


class AddressRefused(ToolError):
    """The address leads where nobody may be sent; nothing was connected to."""


class DisallowedByRobots(ToolError):
    """The site's robots.txt does not want this page read."""


class PageRefused(ToolError):
    """The server answered with something that cannot be used: a status, a type, a size, a redirect."""


class PageUnavailable(ToolUnavailable):
    """The server does not answer now. `retry_after` is its own wish where it stated one."""

    def __init__(self, message: str, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
