"""Answer the forms that a server sends in the midst of a call.

No person is there to fill one in. A form gets its own defaults, which tell the server nothing; one that lacks a default for
what it requires, or leads to an address, is declined.
"""

from collections.abc import Mapping
from typing import Any

from mcp.client.context import ClientRequestContext
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult


async def answer_form(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    """Return the form filled in with its defaults, or decline it."""
    if not isinstance(params, ElicitRequestFormParams):
        return ElicitResult(action="decline")
    fields: Mapping[str, Any] = params.requested_schema.get("properties", {})
    defaults = {name: field["default"] for name, field in fields.items() if "default" in field}
    if not defaults or set(params.requested_schema.get("required", ())) - defaults.keys():
        return ElicitResult(action="decline")
    return ElicitResult(action="accept", content=defaults)
