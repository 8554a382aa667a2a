"""Errors of addresses that were not asked. No message repeats words of the server there."""

from datetime import timedelta

from app.domain.errors import ToolError, ToolUnavailable


class AddressRefused(ToolError):
    """The address leads to a forbidden place; nothing was connected to."""


class PageUnavailable(ToolUnavailable):
    """The server does not answer now. `retry_after` is its own wish, if it stated one."""

    def __init__(self, message: str, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
