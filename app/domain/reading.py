"""The reading of a question's words, where the index does not have them as they were written."""

from pydantic import Field

from app.domain.safe_text import SafeText
from app.domain.value import Value


class Reading(Value):
    """Words as written, and as they were read; `read` is empty where no word of the index is near.

    `years`: a period was written by its name and read as its years; otherwise only the spelling differs.
    """

    written: SafeText = Field(min_length=1, max_length=100)
    read: SafeText = Field(default="", max_length=100)
    years: bool = False
