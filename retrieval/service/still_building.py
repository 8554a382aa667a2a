"""The answer to a search that comes too early."""

from app.domain.errors import ToolError


class StillBuilding(ToolError):
    """The first index of a collection is being built. The same search can be made when that is done."""
