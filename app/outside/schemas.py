"""Response bodies about the outside services."""

from pydantic import BaseModel

from app.outside.nouns import ToolUse


class ToolList(BaseModel):
    """The outside services, with the outcome of their calls."""

    items: list[ToolUse]
