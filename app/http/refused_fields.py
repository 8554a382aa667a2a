"""What is wrong with a field of a request, in sentences that say what to give instead.

The kinds of error are pydantic's, by the names that its documentation lists; its words speak of inputs and types.
"""

from collections.abc import Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails

NUMBER, WHOLE = "give a number", "give a whole number"
DAY, MOMENT = "give a day, as 2026-03-01", "give a moment, as 2026-03-01T09:30:00Z"
LIST, OBJECT, TEXT, TRUTH = "give a list", "give a JSON object", "give a text", "give true or false"
ID, ADDRESS = "give an id, as 6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "give an address, as https://example.org"
CHOICE = "give {expected}"
TIME_OF_DAY, SPAN = "give a time of day, as 09:30", "give a span of time in seconds"
SENTENCES: Mapping[str, str] = {
    "missing": "it is required: add it",
    "extra_forbidden": "there is no field of this name: correct the name, or leave it out",
    "frozen_field": "it cannot be changed: leave it out",
    "none_required": "leave it out, or give null",
    "string_type": TEXT,
    "string_unicode": "give a text in UTF-8",
    "string_too_short": "give a text of {min_length} characters or more",
    "string_too_long": "give a text of {max_length} characters or less",
    "string_pattern_mismatch": "give a text that matches {pattern}",
    "int_type": WHOLE,
    "int_parsing": WHOLE,
    "int_parsing_size": "give a smaller number",
    "int_from_float": WHOLE,
    "float_type": NUMBER,
    "float_parsing": NUMBER,
    "finite_number": NUMBER,
    "bool_type": TRUTH,
    "bool_parsing": TRUTH,
    "greater_than": "give more than {gt}",
    "greater_than_equal": "give {ge} or more",
    "less_than": "give less than {lt}",
    "less_than_equal": "give {le} or less",
    "enum": CHOICE,
    "literal_error": CHOICE,
    "union_tag_invalid": "give one of these kinds: {expected_tags}",
    "union_tag_not_found": "say of which kind it is: add {discriminator}",
    "list_type": LIST,
    "tuple_type": LIST,
    "set_type": LIST,
    "frozen_set_type": LIST,
    "too_short": "give a list of {min_length} or more",
    "too_long": "give a list of {max_length} or less",
    "dict_type": OBJECT,
    "model_type": OBJECT,
    "model_attributes_type": OBJECT,
    "mapping_type": OBJECT,
    "invalid_key": "give texts as the names of its fields",
    "uuid_type": ID,
    "uuid_parsing": ID,
    "url_type": ADDRESS,
    "url_parsing": ADDRESS,
    "url_scheme": ADDRESS,
    "url_too_long": "give a shorter address",
    "date_type": DAY,
    "date_parsing": DAY,
    "date_from_datetime_parsing": DAY,
    "date_from_datetime_inexact": DAY,
    "datetime_type": MOMENT,
    "datetime_parsing": MOMENT,
    "datetime_from_date_parsing": MOMENT,
    "datetime_object_invalid": MOMENT,
    "timezone_aware": MOMENT,
    "time_type": TIME_OF_DAY,
    "time_parsing": TIME_OF_DAY,
    "time_delta_type": SPAN,
    "time_delta_parsing": SPAN,
}
OWN_WORDS = "Value error, "


def list_refused_fields(refused: ValidationError) -> list[dict[str, str]]:
    """Return each wrong field with its sentence. The errors that our own checks raise keep their words."""
    return [
        {"field": ".".join(map(str, error["loc"])), "message": _write_sentence(error)}
        for error in refused.errors(include_url=False, include_input=False)
    ]


def _write_sentence(error: ErrorDetails) -> str:
    sentence = SENTENCES.get(error["type"])
    return sentence.format(**error.get("ctx", {})) if sentence else error["msg"].removeprefix(OWN_WORDS)
