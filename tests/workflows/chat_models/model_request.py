"""Asks a server through the OpenAI-compatible adapter, with a schema, prices and a key."""

from decimal import Decimal

from app.domain.chat import ChatRequest, ChatRole, Completion, Message, ResponseSchema
from workflows.chat_models.endpoint import ModelEndpoint, ModelPrices
from workflows.chat_models.openai_compatible import connect_model

SCHEMA = ResponseSchema(
    name="form",
    schema={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False},
)
ASKED = ChatRequest(messages=(Message(role=ChatRole.USER, content="What were tariffs for?"),), response_schema=SCHEMA)
KEY = "sk-very-secret-0123456789"


def make_endpoint(url: str, **more: object) -> ModelEndpoint:
    return ModelEndpoint(base_url=url, model="stub", api_key=KEY, prices=ModelPrices(Decimal(2), Decimal("10.5")), **more)  # type: ignore[arg-type]


async def ask_model(url: str, request: ChatRequest = ASKED, **more: object) -> Completion:
    async with connect_model(make_endpoint(url, **more)) as model:
        return await model.complete(request)
