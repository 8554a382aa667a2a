"""A question put to a server by the OpenAI-compatible adapter, with a schema, prices and a key."""

from decimal import Decimal

from app.domain.chat import ChatRequest, Completion, Message, ResponseSchema, Role
from workflows.chat_models.endpoint import Endpoint, Prices
from workflows.chat_models.openai_compatible import connected

SCHEMA = ResponseSchema(
    name="form",
    schema={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False},
)
ASKED = ChatRequest(messages=(Message(role=Role.USER, content="What were tariffs for?"),), response_schema=SCHEMA)
KEY = "sk-very-secret-0123456789"


def endpoint(url: str, **more: object) -> Endpoint:
    return Endpoint(base_url=url, model="stub", api_key=KEY, prices=Prices(Decimal(2), Decimal("10.5")), **more)  # type: ignore[arg-type]


async def ask(url: str, request: ChatRequest = ASKED, **more: object) -> Completion:
    async with connected(endpoint(url, **more)) as model:
        return await model.complete(request)
