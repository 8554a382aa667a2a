"""Check and clean texts that a person may have typed, where they come in."""

import unicodedata
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from app.domain.safe_text import make_safe


def _refuse_controls(text: str) -> str:
    """Return the text without turns of direction, if it has no control characters.

    These come from binary data, and no later step could say so as clearly.
    """
    for position, character in enumerate(text):
        if unicodedata.category(character) == "Cc" and character not in "\n\r\t":
            raise ValueError(f"the text has a control character, U+{ord(character):04X}, at position {position}; send plain text")
    return make_safe(text)


class _PlainText:
    """A validator that refuses control characters, and says so in the JSON schema; turns of direction it removes."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(_refuse_controls, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {**handler(schema), "pattern": NO_CONTROLS}


# A pattern that all readers of JSON schemas know (ECMA-262). Further rules are told by the description.
NO_CONTROLS = r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$"


PLAIN = _PlainText()
