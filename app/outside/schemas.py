"""What goes out over HTTP about the services outside."""

from pydantic import BaseModel

from app.outside.nouns import ToolUse


class ToolList(BaseModel):
    """The services outside, with how their calls went."""

    items: list[ToolUse]
