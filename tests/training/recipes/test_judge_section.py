"""The judges of a recipe: each has answers of its own, under whatever name its server knows it."""

from datetime import date
from pathlib import Path

import pytest

from app.domain.chat import ChatRequest, ChatRole, Message
from app.domain.query import Language
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_faults import Fault
from training.recipes.judge_section import JudgeSection, open_judges

REQUEST = ChatRequest(messages=(Message(role=ChatRole.USER, content="Is it right?"),))


@pytest.mark.parametrize("names", [("judge", "judge", "judge"), ("one", "judge", "judge")])
async def test_judges_of_one_name_are_each_asked_once_and_keep_their_own_answers(tmp_path: Path, names: tuple[str, ...]) -> None:
    async def ask_all() -> list[str]:
        async with open_judges(sections, tmp_path, date(2026, 1, 1)) as open_kits:
            kits = open_kits(Language.ENGLISH)
            return [(await kit.record.ask("judge", "vote", kit.chat, REQUEST)).text for kit in kits]

    async with (
        serve_model_stub(ModelStub(answerer=lambda _: "yes")) as first,
        serve_model_stub(ModelStub(answerer=lambda _: "no")) as second,
        serve_model_stub(ModelStub(answerer=lambda _: "never")) as third,
    ):
        urls = (first.base_url, second.base_url, third.base_url)
        sections = [JudgeSection(url=url, model=name) for url, name in zip(urls, names, strict=True)]
        assert await ask_all() == ["yes", "no", "never"]
    assert await ask_all() == ["yes", "no", "never"]


async def test_a_judge_that_is_away_for_minutes_still_judges(tmp_path: Path) -> None:
    waited = 0.0

    async def pass_time(seconds: float) -> None:
        nonlocal waited
        waited += seconds
        if waited >= 300:
            judge.faults.ordered.clear()

    async with serve_model_stub(ModelStub(answerer=lambda _: "yes")) as judge:
        judge.faults.order(Fault.SERVER_ERROR, times=99)
        sections = [JudgeSection(url=judge.base_url, model="judge")]
        async with open_judges(sections, tmp_path, date(2026, 1, 1), pass_time) as open_kits:
            kit = open_kits(Language.ENGLISH)[0]
            assert (await kit.record.ask("judge", "vote", kit.chat, REQUEST)).text == "yes"
    assert 300 <= waited < 360
