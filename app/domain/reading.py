"""How a word of a question was read, where nothing that is searched has it as it was written."""

from pydantic import Field

from app.domain.value import Value


class Reading(Value):
    """A word as it was written, and as it was read; `read` is empty where it is near to no word of what is searched."""

    written: str = Field(min_length=1, max_length=100)
    read: str = Field(default="", max_length=100)
