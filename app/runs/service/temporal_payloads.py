"""Convert nouns to and from Temporal payloads: JSON that any version of the worker can read (ADR 0010)."""

from functools import cache
from typing import Any

from pydantic import TypeAdapter
from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticJSONPlainPayloadConverter
from temporalio.converter import CompositePayloadConverter, DataConverter, DefaultPayloadConverter, JSONPlainPayloadConverter


@cache
def _make_reader(type_hint: type | None) -> TypeAdapter[Any]:
    """Return the reader of a type. A reader is a cycle, so that each new one would stay until garbage is collected."""
    return TypeAdapter(Any if type_hint is None else type_hint)


class LenientJsonConverter(PydanticJSONPlainPayloadConverter):
    """A JSON converter that leaves out fields which this version does not know.

    Refusing them would lose commands: the SDK drops a signal that it cannot read, and fails a workflow's task forever.
    """

    def from_payload(self, payload: Payload, type_hint: type | None = None) -> Any:
        """Return the payload as a `type_hint`."""
        return _make_reader(type_hint).validate_json(payload.data, extra="ignore")


class NounConverter(CompositePayloadConverter):
    """The SDK's own conversions, with our converter for JSON."""

    def __init__(self) -> None:
        usual = DefaultPayloadConverter.default_encoding_payload_converters
        super().__init__(*(LenientJsonConverter() if isinstance(one, JSONPlainPayloadConverter) else one for one in usual))


noun_converter = DataConverter(payload_converter_class=NounConverter)
"""The data converter to pass to the client."""
