"""Each quirk of the stub fires, and the product's client gets the same answer from it as from a server without quirks."""

import json

import pytest

from app.domain.chat import ChatRequest, ChatRole, Message, ResponseSchema
from app.domain.errors import ModelUnavailable
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_quirks import QUIRKS
from tests.workflows.chat_models.model_request import make_endpoint
from workflows.agents.parsing import remove_thinking
from workflows.chat_models.openai_compatible import connect_model

FORM = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
SAID = '{"answer": "The lamp burns."}'
TALK = (ChatRole.SYSTEM, ChatRole.USER, ChatRole.USER)
ASKED = ChatRequest(
    messages=tuple(Message(role=role, content='Fill {"answer": ""}.') for role in TALK),
    response_schema=ResponseSchema(name="finding", schema=FORM),
)


@pytest.mark.parametrize("quirk", sorted(QUIRKS.keys() - {"choice_error"}))
async def test_a_quirk_fires_and_is_understood(quirk: str) -> None:
    stub = ModelStub(answerer=lambda _: SAID, quirk=quirk)
    async with serve_model_stub(stub), connect_model(make_endpoint(stub.base_url)) as model:
        texts = [remove_thinking((await model.complete(ASKED)).text) for _ in range(2)]
    assert stub.quirked
    found = json.loads(texts[-1].removeprefix("<tool_call>").removesuffix("</tool_call>"))
    assert found.get("arguments", found) == json.loads(SAID)


async def test_a_choice_that_fails_is_one_of_three() -> None:
    stub = ModelStub(answerer=lambda _: SAID, quirk="choice_error")
    async with serve_model_stub(stub), connect_model(make_endpoint(stub.base_url)) as model:
        assert [(await model.complete(ASKED)).text for _ in range(2)] == [SAID, SAID]
        with pytest.raises(ModelUnavailable, match="Upstream"):
            await model.complete(ASKED)
    assert stub.quirked == 1


@pytest.mark.parametrize(
    ("quirk", "text"),
    [("cite:(see ID)", "It burns (see q7)."), ("prose:The lamp [ID] burns [ID].", "The lamp [q7] burns [q9].")],
)
async def test_words_are_put_for_citations_or_for_the_whole_text(quirk: str, text: str) -> None:
    shown = Message(role=ChatRole.USER, content='<passage id="q7">\nA.\n</passage>\n<passage id="q9">\nB.\n</passage>')
    stub = ModelStub(answerer=lambda _: "It burns [q7].", quirk=quirk)
    async with serve_model_stub(stub), connect_model(make_endpoint(stub.base_url)) as model:
        assert (await model.complete(ChatRequest(messages=(shown,)))).text == text
