"""A model server on this machine's usual port is told of where no model is named, and used by one word."""

import pytest

from app.own_servers import OwnServer
from app.settings import Settings, read_settings
from infra.local.own_servers import describe_own_models, find_own_models
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.workflows.chat_models.rude_server import make_http_answer, serve_rudely

NOBODY = OwnServer("Nobody", 9)


def at(url: str) -> OwnServer:
    return OwnServer("Ollama", int(url.rpartition(":")[2].partition("/")[0]))


async def test_servers_that_list_models_are_found_and_others_are_not() -> None:
    page = make_http_answer(200, b"<html>a wiki</html>", "text/html")
    async with serve_model_stub(ModelStub(known={"small", "large"})) as stub, serve_rudely(page) as wiki:
        found = await find_own_models({"ollama": at(stub.base_url), "llamacpp": at(wiki.url), "vllm": NOBODY})
    assert found == {"ollama": ("large", "small")}
    [line] = describe_own_models(found)
    assert line.startswith("Ollama serves large, small on this machine: MODEL=ollama/large ")


@pytest.mark.parametrize(
    ("named", "url", "model", "context"),
    [
        ("ollama/llama3.1:8b", "http://127.0.0.1:11434/v1", "llama3.1:8b", 4_096),
        ("lmstudio/qwen/qwen3-8b", "http://127.0.0.1:1234/v1", "qwen/qwen3-8b", 4_096),
        ("llamacpp/any", "http://127.0.0.1:8080/v1", "any", 0),
        ("vllm/org/model", "http://127.0.0.1:8000/v1", "org/model", 0),
    ],
)
def test_one_word_names_a_server_and_its_model(named: str, url: str, model: str, context: int) -> None:
    settings = read_settings({"RUBRICA_LOCAL_MODEL": named})
    assert (settings.llm_base_url, settings.llm_model, settings.llm_context) == (url, model, context)
    assert settings.local_model is None
    assert read_settings({"RUBRICA_LOCAL_MODEL": named, "RUBRICA_LLM_CONTEXT": "16000"}).llm_context == 16_000


@pytest.mark.parametrize("named", ["qwen2.5-coder-0.5b", "ollama/weights.gguf", "weights/small", "ollama/", "ollama"])
def test_other_names_stay_what_they_are(named: str) -> None:
    settings = Settings(local_model=named)
    assert (settings.local_model, settings.llm_base_url) == (named, None)
