"""How words of a question were read, where what is searched would not be found by them as they were written."""

from pydantic import Field

from app.domain.value import Value


class Reading(Value):
    """Words as they were written, and as they were read; `read` is empty where a word is near to no word of what is searched.

    `years` tells that a time was written by its name and read as its years; all else is a matter of spelling.
    """

    written: str = Field(min_length=1, max_length=100)
    read: str = Field(default="", max_length=100)
    years: bool = False
