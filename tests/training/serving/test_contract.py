"""The same cases before this server and, where there is one, a real vLLM: what is relied on means the same before both."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

pytest.importorskip("trl", reason="serving needs what `make setup-train` installs")

from app.domain.chat import Message
from tests.training.serving.small_server import (
    BASE,
    QUESTION,
    Caller,
    break_adapter,
    join_text,
    open_caller,
    save_adapter,
    score,
)
from training.rollouts.chat_template import ChatTemplate
from training.rollouts.tiny_policy import POSITIONS, build_tiny_tokenizer, save_tiny_policy

pytestmark = pytest.mark.extra("trl")
TOKENIZER = build_tiny_tokenizer()
MESSAGES = tuple(Message.model_validate(each) for each in QUESTION)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_policy(tmp_path_factory.mktemp("serving") / BASE)


@pytest.fixture(params=["serving", "vllm"])
async def caller(request: pytest.FixtureRequest, base: Path) -> AsyncIterator[Caller]:
    """Return a caller of the tiny policy, which is the same before both servers."""
    if request.param == "vllm":
        address = request.getfixturevalue("real_vllm").address
        async with aiohttp.ClientSession() as session:
            yield Caller(address, session)
    else:
        async with open_caller(base) as opened:
            yield opened


@pytest.fixture
async def adapter(caller: Caller, base: Path, tmp_path: Path) -> AsyncIterator[Path]:
    """Return the folder of an adapter that is loaded as `writer-1`."""
    folder = save_adapter(tmp_path / "one", base, 1)
    status, said = await caller.load("writer-1", folder)
    assert (status, said) == (200, "Success: LoRA adapter 'writer-1' added successfully.")
    yield folder
    await caller.unload("writer-1")


async def test_an_answer_tells_its_end_and_its_usage(caller: Caller) -> None:
    said = await caller.ask(max_tokens=5)
    prompt = len(ChatTemplate(TOKENIZER).encode_opening(MESSAGES))
    usage = {key: said["usage"][key] for key in ("prompt_tokens", "completion_tokens", "total_tokens")}
    assert usage == {"prompt_tokens": prompt, "completion_tokens": 5, "total_tokens": prompt + 5}
    [choice] = said["choices"]
    assert (choice["finish_reason"], choice["message"]["role"], said["model"]) == ("length", "assistant", BASE)


async def test_the_same_ids_have_the_log_probabilities_of_a_forward_pass(caller: Caller, base: Path, adapter: Path) -> None:
    for name, folder in ((BASE, None), ("writer-1", adapter)):
        said = await caller.ask(name, temperature=1, seed=4, max_tokens=12, logprobs=True, return_token_ids=True)
        prompt, ids = said["prompt_token_ids"], said["choices"][0]["token_ids"]
        assert tuple(prompt) == ChatTemplate(TOKENIZER).encode_opening(MESSAGES)
        found = [token["logprob"] for token in said["choices"][0]["logprobs"]["content"]]
        assert found == pytest.approx(score(base, folder, [*prompt, *ids], len(prompt)), abs=1e-5)


async def test_a_seed_gives_the_same_answer_whole_and_as_a_stream(caller: Caller) -> None:
    asked = {"temperature": 1, "top_p": 0.9, "seed": 3, "max_tokens": 20}
    whole, other = await caller.ask(**asked), await caller.ask(**asked | {"seed": 4})
    events = await caller.stream(**asked)
    assert join_text(events) == whole["choices"][0]["message"]["content"] != other["choices"][0]["message"]["content"]
    *_, last, usage, done = events
    assert (last["choices"][0]["finish_reason"], usage["choices"], done) == (whole["choices"][0]["finish_reason"], [], "[DONE]")
    assert usage["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"] == 20
    assert len(events) > 10, "it comes in pieces"


@pytest.mark.parametrize("many", [False, True])
async def test_an_answer_ends_before_a_stop_string(caller: Caller, many: bool) -> None:
    asked = {"temperature": 1, "seed": 5, "max_tokens": 20}
    text = (await caller.ask(**asked))["choices"][0]["message"]["content"]
    stop = text[6:9]
    asked["stop"] = ["never this", stop] if many else stop
    said = await caller.ask(**asked)
    [choice] = said["choices"]
    assert choice["message"]["content"] == text[: text.index(stop)]
    assert (choice["finish_reason"], choice["stop_reason"]) == ("stop", stop)
    assert said["usage"]["completion_tokens"] < 20
    assert join_text(await caller.stream(**asked)) == text[: text.index(stop)]


async def test_the_list_of_models_has_the_base_and_what_is_loaded(caller: Caller, adapter: Path) -> None:
    models = await caller.list_models()
    assert list(models) == [BASE, "writer-1"]
    assert (models[BASE]["max_model_len"], models[BASE]["parent"]) == (POSITIONS, None)
    assert (models["writer-1"]["parent"], models["writer-1"]["root"]) == (BASE, str(adapter))
    assert (await caller.unload("writer-1"))[0] == 200
    assert list(await caller.list_models()) == [BASE]


async def test_an_adapter_answers_otherwise_than_its_base(caller: Caller, adapter: Path) -> None:
    texts = [(await caller.ask(name))["choices"][0]["message"]["content"] for name in (BASE, "writer-1", BASE)]
    assert texts[0] == texts[2] != texts[1]


async def test_what_is_not_there_is_404(caller: Caller, tmp_path: Path) -> None:
    status, said = await caller.post("chat/completions", {"model": "nobody", "messages": QUESTION})
    assert (status, said["error"]["message"], said["error"]["type"]) == (
        404,
        "The model `nobody` does not exist.",
        "NotFoundError",
    )
    assert (await caller.unload("nobody"))[0] == 404
    assert (await caller.load("nobody", tmp_path / "nowhere"))[0] == 404


@pytest.mark.parametrize("messages", [QUESTION, [{"role": "user", "content": "a b " * POSITIONS}]], ids=["answer", "prompt"])
async def test_what_does_not_fit_the_context_is_400(caller: Caller, messages: object) -> None:
    status, said = await caller.post(
        "chat/completions", {"model": BASE, "messages": messages, "max_tokens": POSITIONS, "stream": True}
    )
    assert (status, said["error"]["code"], said["error"]["type"]) == (400, 400, "BadRequestError")
    assert "maximum context length is 32768 tokens" in said["error"]["message"]


async def test_a_name_is_loaded_once(caller: Caller, adapter: Path) -> None:
    status, said = await caller.load("writer-1", adapter)
    assert status == 400
    assert "has already been loaded" in said["error"]["message"]
    assert (await caller.load(BASE, adapter))[0] == 400


async def test_a_broken_adapter_is_refused_and_harms_nobody(caller: Caller, base: Path, adapter: Path, tmp_path: Path) -> None:
    before = await caller.ask("writer-1")
    status, said = await caller.load("broken", break_adapter(save_adapter(tmp_path / "broken", base, 2)))
    assert status >= 400
    assert said["error"]["message"]
    assert list(await caller.list_models()) == [BASE, "writer-1"]
    assert (await caller.ask("writer-1"))["choices"] == before["choices"]


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"model": "tiny"}'])
async def test_a_body_that_says_nothing_is_400(caller: Caller, body: bytes) -> None:
    status, said = await caller.post("chat/completions", body)
    assert (status, said["error"]["code"]) == (400, 400)


async def test_health(caller: Caller) -> None:
    async with caller.session.get(caller.address.removesuffix("/v1") + "/health") as response:
        assert response.status == 200
