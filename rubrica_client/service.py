"""The installation: whether it works, and the services outside that it uses."""

from rubrica_client.models import Health, ToolList
from rubrica_client.request import Request


def health() -> Request[Health]:
    """Whether every part works."""
    return Request("GET", "/health", Health)


def tools(days: int | None = None) -> Request[ToolList]:
    """The services outside, with how their calls of the last days went."""
    return Request("GET", "/v1/tools", ToolList, query={"days": days})
