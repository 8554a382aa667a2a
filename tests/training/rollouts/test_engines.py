"""Both engines sample one policy: transformers in this process, and vLLM's protocol over a socket before the same weights.

The protocol is spoken by our own server, and by a real vLLM where there is one.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the engines need torch: `make setup-train`")

import torch

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.errors import ContextTooLong, ModelUnavailable, ModelUnusable
from training.rollouts.chat_template import ChatTemplate
from training.rollouts.engine import Engine, Sample, SamplingSettings
from training.rollouts.sampler import Sampler
from training.rollouts.tiny_policy import POSITIONS, build_tiny_model, build_tiny_tokenizer
from training.rollouts.transformers_engine import TransformersEngine, lend
from training.rollouts.vllm_engine import connect_vllm
from training.serving.prompt_format import PromptFormat
from training.serving.served_models import ServedModel, ServedModels
from training.serving.server import create_app, listen
from training.serving.shared_weights import SharedWeights
from workflows.chat_models.endpoint import ModelEndpoint

pytestmark = pytest.mark.extra("trl")
TOKENIZER = build_tiny_tokenizer()
MODEL = build_tiny_model(TOKENIZER)
STOP = TOKENIZER.convert_tokens_to_ids("<|im_end|>")
SETTINGS = SamplingSettings(stop_ids=(STOP,), seed=3)
PROMPTS = [tuple(TOKENIZER.encode(text)) for text in ("Why?", "A longer question than that one.", "Search")]


def make_engine(rows: int = 8) -> TransformersEngine:
    return TransformersEngine("tiny", lend(MODEL), pad_id=TOKENIZER.pad_token_id, rows=rows)


@torch.no_grad()
def score_ids(ids: Sequence[int], temperature: float = 1.0) -> list[float]:
    """Return the model's log-probability of each id after the first, given those before it."""
    spread = (MODEL(torch.tensor([list(ids)])).logits[0, :-1] / temperature).log_softmax(-1)
    return [known[id_].item() for known, id_ in zip(spread, ids[1:], strict=True)]


@asynccontextmanager
async def open_in_process() -> AsyncIterator[Engine]:
    yield make_engine()


@asynccontextmanager
async def open_served(own: TransformersEngine | None = None, tokenizer: Any = TOKENIZER) -> AsyncIterator[Engine]:
    spoken = PromptFormat(tokenizer, ChatTemplate(tokenizer))
    base = ServedModel("tiny", Path(), spoken, own or make_engine(), POSITIONS)
    app = create_app(ServedModels(base, SharedWeights(MODEL, max_rank=1), most=0))
    async with listen(app) as address, connect_vllm(ModelEndpoint(address, "tiny")) as engine:
        yield engine


OpenEngine = Callable[[], AbstractAsyncContextManager[Engine]]


@pytest.fixture(params=["transformers", "serving", "vllm"])
def open_engine(request: pytest.FixtureRequest) -> OpenEngine:
    """Return what opens an engine over the tiny policy."""
    if request.param == "vllm":
        address = request.getfixturevalue("real_vllm").address
        return lambda: connect_vllm(ModelEndpoint(address, "tiny"))
    return open_in_process if request.param == "transformers" else open_served


@pytest.mark.parametrize("temperature", [1.0, 0.5])
async def test_log_probabilities_are_those_of_the_model_at_the_temperature(open_engine: OpenEngine, temperature: float) -> None:
    settings = SamplingSettings((STOP,), temperature)
    async with open_engine() as engine:
        samples = await asyncio.gather(*(engine.sample(prompt, 12, settings, n) for n, prompt in enumerate(PROMPTS)))
    for prompt, sample in zip(PROMPTS, samples, strict=True):
        expected = score_ids((*prompt, *sample.ids), temperature)[len(prompt) - 1 :]
        assert sample.logprobs == pytest.approx(expected, abs=1e-4)
        assert (sample.finish == "stop") == (sample.ids[-1] == STOP)


async def test_a_seed_gives_the_same_ids_alone_and_in_company(open_engine: OpenEngine) -> None:
    async with open_engine() as engine:
        alone = [await engine.sample(PROMPTS[0], 8, SETTINGS, seed) for seed in (1, 2)]
        many = await asyncio.gather(*(engine.sample(p, 8 + n, SETTINGS, 1) for n, p in enumerate(PROMPTS)))
    assert many[0].ids == alone[0].ids != alone[1].ids
    assert [len(sample.ids) for sample in many] == [8, 9, 10]


async def test_the_sampled_end_of_a_turn_is_kept(open_engine: OpenEngine) -> None:
    async with open_engine() as engine:
        first = await engine.sample(PROMPTS[0], 8, SETTINGS, 1)
        stopping = SamplingSettings(stop_ids=(STOP, first.ids[4]), seed=3)
        sample = await engine.sample(PROMPTS[0], 8, stopping, 1)
    assert sample.finish == "stop"
    assert sample.ids == first.ids[: first.ids.index(first.ids[4]) + 1]
    assert len(sample.logprobs) == len(sample.ids)


async def test_the_server_s_own_end_tokens_end_nothing() -> None:
    async with open_in_process() as engine:
        wanted = await engine.sample(PROMPTS[0], 8, SETTINGS, 1)
    ending = build_tiny_tokenizer()
    ending.eos_token = ending.convert_ids_to_tokens(wanted.ids[2])
    async with open_served(tokenizer=ending) as engine:
        assert (await engine.sample(PROMPTS[0], 8, SETTINGS, 1)).ids == wanted.ids


async def test_a_batch_for_which_memory_is_missing_is_an_outage_and_no_failure_of_the_policy() -> None:
    @contextmanager
    def lend_nothing() -> Iterator[Any]:
        raise torch.OutOfMemoryError("out of memory")
        yield

    engine = TransformersEngine("tiny", lend_nothing, pad_id=TOKENIZER.pad_token_id)
    asked = [engine.sample(prompt, 2, SETTINGS, 1) for prompt in PROMPTS[:2]]
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(each) for each in found] == [ModelUnavailable] * 2
    assert "OutOfMemoryError: out of memory" in str(found[0])


async def test_greedy_takes_the_likeliest_and_a_small_top_p_does_too(open_engine: OpenEngine) -> None:
    renormalises = open_engine not in (open_in_process, open_served)
    async with open_engine() as engine:
        greedy = await engine.sample(PROMPTS[1], 6, SamplingSettings((STOP,), 0.0), None)
        narrow = await engine.sample(PROMPTS[1], 6, SamplingSettings((STOP,), 1.0, 1e-6), 5)
    assert greedy.ids == narrow.ids
    assert narrow.logprobs == pytest.approx((0.0,) * 6 if renormalises else greedy.logprobs, abs=1e-5)


async def test_a_prompt_without_room_is_too_long_and_costs_only_itself(open_engine: OpenEngine) -> None:
    async with open_engine() as engine:
        good, bad = await asyncio.gather(
            engine.sample(PROMPTS[0], 2, SETTINGS, 1), engine.sample((5,) * POSITIONS, 2, SETTINGS, 1), return_exceptions=True
        )
    assert isinstance(bad, ContextTooLong)
    assert not isinstance(good, BaseException)


async def test_a_conversation_of_several_turns_is_one_line_of_ids(open_engine: OpenEngine) -> None:
    messages = [Message(role=ChatRole.SYSTEM, content="Search."), Message(role=ChatRole.USER, content="Why?")]
    async with open_engine() as engine:
        sampler = Sampler(engine, ChatTemplate(TOKENIZER), SETTINGS, 4_000)
        tokens = []
        for turn in range(4):
            completion = await sampler.complete(ChatRequest(messages=tuple(messages), max_tokens=10))
            assert completion.sampled is not None
            tokens.append(completion.sampled)
            messages.append(Message(role=ChatRole.ASSISTANT, content=completion.text))
            messages.append(Message(role=ChatRole.USER, content=f"Seen {turn}"))
    lengths = [t.carried + len(t.prompt_ids) + len(t.completion_ids) for t in tokens]
    assert {t.conversation for t in tokens} == {"c1"}
    assert [t.carried for t in tokens] == [0, *lengths[:-1]]
    ids = tuple(i for t in tokens for i in (*t.prompt_ids, *t.completion_ids))
    scored = score_ids(ids)
    for sampled, end in zip(tokens, lengths, strict=True):
        assert scored[end - 1 - len(sampled.completion_ids) : end - 1] == pytest.approx(sampled.logprobs, abs=1e-4)


async def test_both_engines_answer_a_rollout_alike() -> None:
    told = []
    for opened in (open_in_process, open_served):
        async with opened() as engine:
            sampler = Sampler(engine, ChatTemplate(TOKENIZER), SETTINGS, 4_000)
            request = ChatRequest(messages=(Message(role=ChatRole.USER, content="Why?"),), max_tokens=10)
            told.append([(await sampler.complete(request)).text for _ in range(3)])
    assert told[0] == told[1]
    assert len(set(told[0])) == 3, "the same prompt is another sample each time"


async def test_ids_are_drawn_as_often_as_their_probabilities_say() -> None:
    with torch.no_grad():
        probabilities = torch.softmax(MODEL(torch.tensor([PROMPTS[0]])).logits[0, -1].float() / 0.1, -1)
    top = int(probabilities.argmax())
    engine, settings, draws = make_engine(rows=64), SamplingSettings((STOP,), 0.1), 400
    samples = await asyncio.gather(*(engine.sample(PROMPTS[0], 1, settings, seed) for seed in range(draws)))
    p = float(probabilities[top])
    assert sum(s.ids[0] == top for s in samples) / draws == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / draws))


async def test_the_model_is_borrowed_for_a_batch_and_trains_again_afterwards() -> None:
    lent: list[str] = []

    class Lending(AbstractContextManager[Any]):
        def __enter__(self) -> Any:
            lent.append("out")
            return MODEL

        def __exit__(self, *_: object) -> None:
            lent.append("back")

    MODEL.train()
    try:
        engine = TransformersEngine("tiny", Lending, pad_id=TOKENIZER.pad_token_id)
        await engine.sample(PROMPTS[0], 2, SETTINGS, 1)
        assert MODEL.training
    finally:
        MODEL.eval()
    assert lent == ["out", "back"]


async def test_a_call_that_was_given_up_leaves_the_others_their_answers() -> None:
    engine = make_engine(rows=1)
    tasks = [asyncio.create_task(engine.sample(prompt, 4, SETTINGS, 1)) for prompt in PROMPTS]
    await asyncio.sleep(0)
    tasks[1].cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [isinstance(one, BaseException) for one in done] == [False, True, False]


async def test_a_server_that_is_away_is_worth_waiting_for() -> None:
    async with connect_vllm(ModelEndpoint("http://127.0.0.1:1/v1", "tiny")) as engine:
        with pytest.raises(ModelUnavailable):
            await engine.sample(PROMPTS[0], 1, SETTINGS, 1)


async def test_a_server_that_leaves_the_stop_id_out_is_unusable() -> None:
    class Forgetful(TransformersEngine):
        async def sample(self, *asked: Any) -> Sample:
            sample = await super().sample(*asked)
            return replace(sample, finish="stop")

    forgetful = Forgetful("tiny", lend(MODEL), pad_id=TOKENIZER.pad_token_id)
    async with open_served(forgetful) as engine:
        with pytest.raises(ModelUnusable, match="sent 2 ids, 2 log-probabilities and the end 'stop'"):
            await engine.sample(PROMPTS[0], 2, SETTINGS, 1)


def test_the_tiny_policy_is_the_same_each_time() -> None:
    again = build_tiny_tokenizer()
    assert again.get_vocab() == TOKENIZER.get_vocab()
    one, two = (build_tiny_model(TOKENIZER, 5).state_dict() for _ in range(2))
    assert all(torch.equal(one[name], two[name]) for name in one)
