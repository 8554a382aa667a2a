import importlib.util
import json
import os
from pathlib import Path

import pytest

from app.domain.chat import ChatRequest, Message, ResponseSchema, Role
from app.domain.errors import ContextTooLong, SetupError
from workflows.chat_models.embedded import load_embedded

MODELS = Path(os.environ.get("RUBRICA_MODELS_DIR", ".rubrica/models"))
SMALLEST = MODELS / "SmolLM2-135M-Instruct.Q4_1.gguf"
COLOURS = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}
installed = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or not SMALLEST.is_file(), reason="xllamacpp or its model file is not installed"
)


def test_a_missing_file_says_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="RUBRICA_MODELS_DIR"):
        load_embedded(tmp_path / "none.gguf")


@pytest.mark.slow
@installed
async def test_a_real_model_answers_within_the_schema() -> None:
    model = load_embedded(SMALLEST, context_tokens=1_024)
    schema = ResponseSchema(name="pick", schema=COLOURS)
    asked = ChatRequest(messages=(Message(role=Role.USER, content="Pick a colour."),), response_schema=schema, max_tokens=40)
    completion = await model.complete(asked)
    assert json.loads(completion.text)["colour"] in ("red", "blue")
    assert completion.usage.output_tokens > 0
    with pytest.raises(ContextTooLong):
        await model.complete(ChatRequest(messages=(Message(role=Role.USER, content="word " * 3_000),)))


@pytest.mark.slow
@installed
def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"not a model at all")
    with pytest.raises(SetupError, match="cannot be loaded"):
        load_embedded(tmp_path / "bad.gguf")
