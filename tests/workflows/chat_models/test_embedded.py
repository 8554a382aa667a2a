import json
from pathlib import Path

import pytest

from app.domain.chat import ChatRequest, ChatRole, Message, ResponseSchema
from app.domain.errors import ContextTooLong, SetupError
from infra.extras import SMALLEST_MODEL, is_importable
from workflows.chat_models.embedded import open_embedded

COLOURS = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


@pytest.mark.skipif(is_importable("xllamacpp"), reason="xllamacpp is here")
async def test_without_the_engine_it_says_how_to_install_it(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"rubrica\[embedded\]"):
        async with open_embedded(tmp_path / "none.gguf"):
            pass


@pytest.mark.extra("xllamacpp")
async def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"no model file .*none\.gguf"):
        async with open_embedded(tmp_path / "none.gguf"):
            pass


@pytest.mark.slow
@pytest.mark.extra("xllamacpp", "weights")
async def test_a_real_model_answers_within_the_schema() -> None:
    schema = ResponseSchema(name="pick", schema=COLOURS)
    asked = ChatRequest(messages=(Message(role=ChatRole.USER, content="Pick a colour."),), response_schema=schema, max_tokens=40)
    async with open_embedded(SMALLEST_MODEL, context_tokens=1_024) as model:
        completion = await model.complete(asked)
        assert json.loads(completion.text)["colour"] in ("red", "blue")
        assert completion.usage.output_tokens > 0
        with pytest.raises(ContextTooLong):
            await model.complete(ChatRequest(messages=(Message(role=ChatRole.USER, content="word " * 3_000),)))


@pytest.mark.slow
@pytest.mark.extra("xllamacpp")
async def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"not a model at all")
    with pytest.raises(SetupError, match="cannot be served"):
        async with open_embedded(tmp_path / "bad.gguf"):
            pass
