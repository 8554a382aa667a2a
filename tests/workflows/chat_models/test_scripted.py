import pytest

from app.domain.chat import ChatRequest, ChatRole, Message, SampledTokens
from app.domain.errors import ModelRefused, ModelUnavailable
from workflows.chat_models.absent import AbsentModel
from workflows.chat_models.estimating import estimate_tokens
from workflows.chat_models.scripted import ScriptedModel

ASKED = ChatRequest(messages=(Message(role=ChatRole.USER, content="hello"),))


async def test_a_list_is_answered_in_order_and_then_refused() -> None:
    model = ScriptedModel(["one", ModelUnavailable("away"), "two"])
    assert (await model.complete(ASKED)).text == "one"
    with pytest.raises(ModelUnavailable):
        await model.complete(ASKED)
    assert (await model.complete(ASKED)).text == "two"
    with pytest.raises(ModelRefused):
        await model.complete(ASKED)
    assert len(model.requests) == 4


async def test_a_function_sees_the_request_and_tokens_are_kept() -> None:
    def sample(_: ChatRequest, text: str) -> SampledTokens:
        return SampledTokens(prompt_ids=(1,), completion_ids=tuple(text.encode()), logprobs=(-0.5,) * len(text.encode()))

    model = ScriptedModel(lambda request: request.messages[-1].content.upper(), sample=sample)
    completion = await model.complete(ASKED)
    assert completion.text == "HELLO"
    assert completion.sampled is not None
    assert completion.sampled.completion_ids == tuple(b"HELLO")
    assert completion.usage.model_calls == 1


async def test_no_model_says_what_to_set() -> None:
    with pytest.raises(ModelRefused, match="RUBRICA_LLM_BASE_URL"):
        await AbsentModel().complete(ASKED)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("word", 1), ("two words", 3), ("关税史", 3), ("关税 tariff", 4)])
def test_tokens_are_estimated_by_script(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens
