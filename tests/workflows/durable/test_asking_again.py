"""A stored run's writer and planner are asked again, over a real database and a model server: nothing is searched or changed."""

import contextlib
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from app.domain.errors import Conflict, InvalidInput, ModelRefused, NotFound, Unavailable
from app.domain.query import SystemName
from app.domain.run import RunStatus
from app.domain.trajectory import Turn
from app.domain.writer import WriterSettings
from app.runs.storage.stored_turns import list_turns
from infra.cli.replay_tables import compare_plans, compare_reports
from tests.support.model_stub import ModelStub
from tests.support.model_stub_answers import StubPrompt
from tests.workflows.durable.test_served_models import serve_names
from tests.workflows.durable.whole_product import WholeProduct
from workflows.agents.model_driven import MODEL_DRIVEN
from workflows.durable.asking_again import Replay
from workflows.durable.stored_run import load_stored_run
from workflows.durable.workshop import Workshop
from workflows.prompts.library import HERE, PromptError, PromptLibrary
from workflows.systems.local_record import LocalRecord

LETTER = "Write it as a letter."
PASSAGE = re.compile(r'<passage id="q1">\n(.*?)\n</passage>', re.DOTALL)
ONE, TWO = "one", "two"


class Nowhere:
    """An index that nobody may ask."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the index was asked: {name}")


@pytest.fixture
def prompts(tmp_path: Path) -> PromptLibrary:
    """The product's prompts, and one more version of the writer's."""
    shutil.copytree(HERE, tmp_path / "prompts")
    for ending in (".md", ".zh.md"):
        text = (HERE / "single_pass" / f"v3{ending}").read_text()
        (tmp_path / "prompts" / "single_pass" / f"v4{ending}").write_text(f"{text}\n{LETTER}\n")
    return PromptLibrary.load(tmp_path / "prompts")


def write_in_one_call(prompt: StubPrompt) -> str | None:
    """Write two sections; the second model quotes its source where the first says it in other words."""
    shown = PASSAGE.search(prompt.text)
    if prompt.schema is not None or shown is None or "the best research report you can" not in prompt.text:
        return None
    said = shown.group(1).removesuffix(".") if prompt.model == TWO else "Presidents laid the tariffs for other reasons"
    return f"# Reasons\n\n## Summary\n\n{said} [q1].\n\n## What follows\n\nNothing more is known of it."


@contextlib.asynccontextmanager
async def record_run(house: WholeProduct, prompts: PromptLibrary) -> AsyncIterator[tuple[ModelStub, Workshop, UUID]]:
    """Work a question with the first of two models, then take the index away."""
    async with serve_names(house, ONE, TWO, agents=MODEL_DRIVEN, prompts=prompts) as (stub, shop):
        stub.answerer = write_in_one_call
        run_id = await house.ask("Why were tariffs laid?")
        await house.wait_for(run_id, RunStatus.COMPLETED)
        shop.index = Nowhere()  # type: ignore[assignment]
        yield stub, shop, run_id


async def open_replay(shop: Workshop, run_id: UUID) -> Replay:
    return Replay(shop, await load_stored_run(shop.database, run_id), LocalRecord("replay"))


async def snapshot(house: WholeProduct, run_id: UUID) -> tuple[Any, ...]:
    """Return everything that a replay must leave as it was."""
    rows = [await house.database.fetchval(f"SELECT count(*) FROM {table}") for table in ("runs", "turns", "events", "stages")]
    return (await house.get_run(run_id), await house.read_report_markdown(run_id), *rows)


def find_step(turns: tuple[Turn, ...] | list[Turn], step: str) -> Turn:
    return next(turn for turn in turns if turn.step == step)


async def test_another_model_and_prompt_write_from_what_the_first_had_and_the_run_stays(
    house: WholeProduct, prompts: PromptLibrary
) -> None:
    async with record_run(house, prompts) as (_, shop, run_id):
        before, stored = await snapshot(house, run_id), await list_turns(house.database, run_id)
        same = await open_replay(shop, run_id)
        await same.write(WriterSettings(prompts={"single_pass": "v3"}))
        other = await open_replay(shop, run_id)
        files = await compare_reports(other, WriterSettings(model=TWO, prompts={"single_pass": "v4"}))
        assert await snapshot(house, run_id) == before
    asked = find_step(list(stored), "single_pass").messages
    assert find_step(same.record.trajectory.turns, "single_pass").messages == asked
    again = find_step(other.record.trajectory.turns, "single_pass")
    assert [again.messages[0].content, again.messages[1].content] == [asked[0].content, f"{asked[1].content}\n\n{LETTER}"]
    assert {turn.completion.model for turn in other.record.trajectory.turns if turn.completion} == {TWO}
    assert files["stored.md"] == before[1]
    table = files["comparison.md"]
    ways = [f"minddr: {model} in one pass" for model in (ONE, TWO)]
    written = next(line for line in table.splitlines() if line.startswith("| written by"))
    assert [cell.split(" + ")[0] for cell in written.split(" | ")[1:]] == ways
    assert ("single_pass v3" in written, "single_pass v4" in written) == (True, True)
    assert "| supported, by the offline grader | 0% | 100% |" in table
    assert f"| {other.record.usage.tokens:,} |" in table


async def test_the_planner_is_told_what_it_was_told_and_its_plan_is_not_searched(
    house: WholeProduct, prompts: PromptLibrary
) -> None:
    async with record_run(house, prompts) as (_, shop, run_id):
        before, stored = await snapshot(house, run_id), await list_turns(house.database, run_id)
        same, other = await open_replay(shop, run_id), await open_replay(shop, run_id)
        assert (await same.plan(WriterSettings(model=ONE))).plan == same.stored.planned
        files = await compare_plans(other, WriterSettings(model=TWO, prompts={"plan": "v2"}))
        assert await snapshot(house, run_id) == before
    told = [(turn.step, turn.digest) for turn in stored if turn.agent == "plan"]
    assert [(turn.step, turn.digest) for turn in same.record.trajectory.turns] == told
    assert [turn.step for turn in other.record.trajectory.turns] == [step for step, _ in told]
    assert "| planned by | one | two |" in files["comparison.md"]
    assert "part 1" in files["comparison.md"]
    assert "Nothing was searched for the new plan" in files["comparison.md"]


async def test_a_writer_that_would_have_to_search_is_refused_with_the_search(house: WholeProduct, prompts: PromptLibrary) -> None:
    async with record_run(house, prompts) as (stub, shop, run_id):
        stub.answerer = lambda prompt: "No." if prompt.model == TWO else None
        with pytest.raises(Conflict, match=r"makes no new searches, and this needs one: search\(\{'query': 'Why were tariffs"):
            await (await open_replay(shop, run_id)).write(WriterSettings(model=TWO))
        stub.known = {ONE}
        with pytest.raises(Unavailable, match="does not exist"):
            await (await open_replay(shop, run_id)).write(WriterSettings(model=TWO))


async def test_what_cannot_be_asked_again_is_refused_in_words(house: WholeProduct, prompts: PromptLibrary) -> None:
    async with record_run(house, prompts) as (_, shop, run_id):
        replay = await open_replay(shop, run_id)
        with pytest.raises(NotFound, match="there is no run"):
            await open_replay(shop, uuid4())
        with pytest.raises(InvalidInput, match="the prompt 'search' would change nothing here"):
            await replay.write(WriterSettings(prompts={"search": "v2"}))
        with pytest.raises(InvalidInput, match="the prompt 'critique' would change nothing here: the planner"):
            await replay.plan(WriterSettings(prompts={"critique": "v1"}))
        with pytest.raises(PromptError, match="no prompt 'critique' v9"):
            await replay.write(WriterSettings(prompts={"critique": "v9"}))
        with pytest.raises(ModelRefused, match="does not offer the model 'three'"):
            await replay.write(WriterSettings(model="three"))
        await house.database.execute("UPDATE stages SET result = NULL, done = false WHERE run_id = $1", run_id)
        with pytest.raises(Conflict, match="has no evidence to write of"):
            await (await open_replay(shop, run_id)).write(WriterSettings(model=TWO))
        await house.database.execute("UPDATE runs SET plan = NULL WHERE id = $1", run_id)
        with pytest.raises(NotFound, match="has no plan"):
            await open_replay(shop, run_id)
        assert replay.record.usage.model_calls == 0


async def test_a_system_that_writes_while_it_searches_is_named(house: WholeProduct, prompts: PromptLibrary) -> None:
    async with record_run(house, prompts) as (_, shop, run_id):
        query = (await house.get_run(run_id)).query.model_copy(update={"system": SystemName.MAMS})
        await house.database.execute("UPDATE runs SET query = $2 WHERE id = $1", run_id, query.model_dump_json())
        replay = await open_replay(shop, run_id)
        for asking in (replay.write, replay.plan):
            with pytest.raises(InvalidInput, match="mams plans and writes while it searches"):
                await asking(WriterSettings(model=TWO))
