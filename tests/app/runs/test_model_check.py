"""A model that refuses every request is told before a run is stored, and asked about seldom."""

import pytest

from app.domain.errors import Conflict
from app.http.services import open_services
from app.outgoing.model_check import ModelCheck
from tests.app.served_api import InMemoryRuns, serve_api
from tests.support.outside_stub import Behaviour, answer_with, refuse_with, serve_outside

NO_KEY = refuse_with(401, '{"error": {"message": "Incorrect API key provided"}}')
NO_MODEL = refuse_with(404, '{"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}')
PAGE = answer_with(b"<!doctype html>\n<html><title>Welcome</title></html>", "text/html")
ANSWER = answer_with({"choices": [{"message": {"content": "Hi"}}]})


@pytest.mark.parametrize(
    ("refusal", "setting"),
    [
        (NO_KEY, "RUBRICA_LLM_API_KEY"),
        (NO_MODEL, "RUBRICA_LLM_MODEL"),
        (PAGE, "RUBRICA_LLM_BASE_URL, which mostly ends in /v1"),
        (refuse_with(405, "<h1>Method not allowed</h1>"), "RUBRICA_LLM_BASE_URL, which mostly ends in /v1"),
        (refuse_with(301, Location="https://elsewhere.example/v1"), "RUBRICA_LLM_BASE_URL to the final address"),
        (refuse_with(402, "Payment Required"), "top it up"),
        (refuse_with(403, "you exceeded your quota"), "top it up"),
        (refuse_with(429, '{"error": {"message": "no", "code": "insufficient_quota"}}'), "top it up"),
    ],
)
async def test_a_run_is_not_begun_with_a_model_that_refuses(
    api_urls: tuple[str, str], workflows: InMemoryRuns, refusal: Behaviour, setting: str
) -> None:
    async with (
        serve_outside(refusal) as model,
        open_services(*api_urls, workflows, model_check=ModelCheck(model.url, "m", "k")) as services,
        serve_api(services) as api,
    ):
        before = len((await api.get("/v1/runs?limit=100")).json["items"])
        for _ in range(2):
            refused = await api.post("/v1/runs", {"question": "Who wrote it?"})
            assert refused.is_problem(409)
            assert setting in refused.json["detail"]
        assert setting in (await api.post("/v1/estimates", {"question": "Who wrote it?"})).json["refusal"]
        assert len((await api.get("/v1/runs?limit=100")).json["items"]) == before
        assert workflows.started == []
        assert len(model.seen) == 1, "the answer is kept for a while"


async def test_systems_are_not_added_beside_a_run_with_a_model_that_refuses(
    api_urls: tuple[str, str], workflows: InMemoryRuns
) -> None:
    async with (
        serve_outside(NO_KEY) as model,
        open_services(*api_urls, workflows) as before,
        open_services(*api_urls, workflows, model_check=ModelCheck(model.url, "m", "k")) as now,
        serve_api(before) as ready,
        serve_api(now) as api,
    ):
        run = await ready.ask("Who wrote it?")
        refused = await api.post(f"/v1/runs/{run}/side-by-side", {"systems": ["mams"]})
        assert refused.is_problem(409)
        assert "RUBRICA_LLM_API_KEY" in refused.json["detail"]
        assert len(workflows.started) == 1


@pytest.mark.parametrize(
    "behaviour",
    [
        ANSWER,
        refuse_with(429, "slow down"),
        refuse_with(500, "model not found"),
        refuse_with(429, "insufficient quota", Retry_After="20"),
        refuse_with(400, "max_tokens is not supported with this model"),
    ],
)
async def test_a_model_that_answers_or_may_answer_later_stops_nothing(behaviour: Behaviour) -> None:
    async with serve_outside(behaviour) as model:
        await ModelCheck(model.url, "m", "k").require_accepted()
    await ModelCheck(model.url, "m", "k").require_accepted()


async def test_without_a_key_the_list_of_models_is_enough() -> None:
    async with serve_outside(NO_MODEL) as model:
        model.script.append(answer_with({"data": [{"id": "m"}]}))
        await ModelCheck(model.url, "m").require_accepted()
        assert [request.path for request in model.seen] == ["/models"]
        with pytest.raises(Conflict, match="does not exist"):
            await ModelCheck(model.url, "n").require_accepted()


async def test_a_page_instead_of_an_answer_is_told_in_plain_words() -> None:
    async with serve_outside(refuse_with(404, "<html><body><h1>Not here</h1></body></html>")) as model:
        assert "(HTTP 404: Not here); check RUBRICA_LLM_MODEL" in await ModelCheck(model.url, "m", "k").find_refusal()
