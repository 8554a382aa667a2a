"""The installation: its health, and the outside services that it uses."""

from rubrica_client.models import Health, ToolList
from rubrica_client.request import Request


def health() -> Request[Health]:
    """Return whether every part works."""
    return Request("GET", ("health",), Health)


def tools(days: int | None = None) -> Request[ToolList]:
    """List the outside services with the results of their calls in the last days."""
    return Request("GET", ("v1", "tools"), ToolList, query={"days": days})
