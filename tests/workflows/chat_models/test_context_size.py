"""What servers tell of a model's context, and those that tell nothing."""

from typing import Any

import pytest

from tests.support.outside_stub import answer_with, serve_outside
from workflows.chat_models.context_size import find_context_tokens
from workflows.chat_models.endpoint import ModelEndpoint


@pytest.mark.parametrize(
    ("told", "tokens"),
    [
        ({"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 131_072}]}, 131_072),
        ({"data": [{"id": "m", "context_length": 200_000}]}, 200_000),
        ({"data": [{"id": "m", "context_window": 32_768}]}, 32_768),
        ({"data": [{"id": "m", "max_model_len": None}]}, 0),
        ({"data": [{"id": "other", "max_model_len": 1}]}, 0),
        ({"data": "none"}, 0),
        ({"error": "no such path"}, 0),
        ([], 0),
    ],
)
async def test_the_context_is_read_of_the_list_of_models(told: Any, tokens: int) -> None:
    async with serve_outside(answer_with(told)) as server:
        assert await find_context_tokens(ModelEndpoint(f"{server.url}/v1", "m", "key")) == tokens
    assert server.seen[0].path == "/v1/models"
    assert server.seen[0].headers["Authorization"] == "Bearer key"


async def test_a_server_that_is_away_tells_nothing() -> None:
    assert await find_context_tokens(ModelEndpoint("http://127.0.0.1:9/v1", "m")) == 0
