"""A stream is watched while it comes: by its tokens, not by the clock, and only as long as it says something new."""

from datetime import timedelta

import pytest

from app.domain.errors import ModelUnavailable
from tests.support.patience import PATIENCE_S
from tests.workflows.chat_models.model_request import ask_model
from tests.workflows.chat_models.rude_server import make_delta, make_events, serve_rudely
from workflows.chat_models.endpoint import Timeouts

LONG = timedelta(seconds=PATIENCE_S)
REPEATED = "The revenue of the treasury was larger than what the government needs in a year. "


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
@pytest.mark.parametrize("opening", ["", '{"answer": "'])
async def test_a_stream_that_loops_is_ended(field: str, opening: str) -> None:
    said = [{"choices": [{"index": 0, "delta": {field: text}}]} for text in (opening, *[REPEATED] * 2_000)]
    async with serve_rudely(make_events(*said, end=""), hold_s=0.002) as server:
        completion = await ask_model(server.url)
    assert completion.finish_reason == "loop"
    assert len(completion.text) < 500 * len(REPEATED)
    assert completion.estimated
    assert completion.usage.output_tokens > 100, "what was sampled by then is paid for"


async def test_a_stream_that_goes_on_saying_new_things_is_not_ended() -> None:
    said = [make_delta(f"In the year {1800 + i} the duty was {i * 7} cents on goods of kind {i * 3}. ") for i in range(400)]
    async with serve_rudely(make_events(*said)) as server:
        completion = await ask_model(server.url)
    assert completion.text.endswith("1197. ")


async def test_a_stream_may_take_longer_than_any_single_wait() -> None:
    said = [make_delta(f"word {i} ") for i in range(30)]
    async with serve_rudely(make_events(*said), hold_s=0.2) as server:
        completion = await ask_model(server.url, timeouts=Timeouts(first=timedelta(seconds=4), idle=timedelta(seconds=4)))
    assert completion.text.count("word") == 30


async def test_signs_of_life_without_tokens_are_no_answer() -> None:
    alive: dict[str, object] = {"choices": [{"index": 0, "delta": {}}]}
    async with serve_rudely(make_events(make_delta("half"), *[alive] * 100_000), hold_s=0.01) as server:
        with pytest.raises(ModelUnavailable, match="stopped sending tokens"):
            await ask_model(server.url, timeouts=Timeouts(first=LONG, idle=timedelta(seconds=0.5)))


async def test_the_first_token_may_take_longer_than_the_next() -> None:
    alive: dict[str, object] = {"choices": [{"index": 0, "delta": {}}]}
    async with serve_rudely(make_events(*[alive] * 10, make_delta("late")), hold_s=0.2) as server:
        completion = await ask_model(server.url, timeouts=Timeouts(first=LONG, idle=timedelta(seconds=1.5)))
    assert completion.text == "late"
