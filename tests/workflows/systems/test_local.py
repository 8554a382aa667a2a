import asyncio
import itertools
import json
import random
import re
from collections.abc import Callable, Mapping
from datetime import timedelta

import pytest

from app.domain.budget import AgentLimits, StopReason
from app.domain.chat import ChatRequest, ChatRole, Completion, Message, ToolCall, ToolResult
from app.domain.errors import ModelRefused, ModelUnavailable, ModelUnusable, ToolError, ToolUnavailable
from app.domain.run import EventType
from app.domain.trajectory import Turn, TurnKind
from app.domain.writer import Composition, WriterSettings
from tests.workflows.agent_kit import make_kit, make_record, run_chain, step_of
from tests.workflows.random_answers import RandomAnswers
from tests.workflows.sensible_model import answer_sensibly
from tests.workflows.small_corpus import SmallCorpus
from workflows.agents.ports import BudgetSpent
from workflows.chat_models.scripted import ScriptedAnswer, ScriptedModel
from workflows.systems.local_record import LocalRecord, OutagePatience
from workflows.systems.steering import PlanSteering

QUESTION = "How did presidents justify tariffs before 1900?"


def asked(text: str) -> ChatRequest:
    return ChatRequest(messages=(Message(role=ChatRole.USER, content=text),))


def foolish_answer(seed: int) -> Callable[[ChatRequest], ScriptedAnswer]:
    """Foolish, but the same request always gets the same answer, whenever it is asked."""
    return lambda request: RandomAnswers(random.Random(f"{seed}/{request.model_dump_json()}"))(request)


def foolish_by_request(seed: int) -> ScriptedModel:
    return ScriptedModel(foolish_answer(seed))


async def test_a_finished_trajectory_replays_without_a_single_call() -> None:
    record, corpus, model = make_record(), SmallCorpus(), foolish_by_request(3)
    report = await run_chain(make_kit(model, record, corpus), record, QUESTION)
    again, no_corpus, no_model = make_record(record.trajectory.turns), SmallCorpus(), ScriptedModel([])
    assert await run_chain(make_kit(no_model, again, no_corpus), again, QUESTION) == report
    assert no_model.requests == []
    assert no_corpus.queries == []
    assert {t.agent: t.ordinal for t in again.trajectory.turns} == {t.agent: t.ordinal for t in record.trajectory.turns}
    assert again.usage == record.usage


@pytest.mark.parametrize("kept", [0.1, 0.35, 0.6, 0.9])
async def test_a_cut_trajectory_goes_on_where_it_stopped_and_pays_nothing_twice(kept: float) -> None:
    record, model = make_record(), foolish_by_request(5)
    report = await run_chain(make_kit(model, record), record, QUESTION)
    turns = record.trajectory.turns
    stored = turns[: int(len(turns) * kept)]
    again, resumed = make_record(stored), foolish_by_request(5)
    assert await run_chain(make_kit(resumed, again), again, QUESTION) == report
    paid = sum(t.kind is TurnKind.MODEL for t in stored)
    assert len(resumed.requests) == len(model.requests) - paid


async def test_new_turns_are_kept_and_stored_ones_are_not_kept_again() -> None:
    model = ScriptedModel(lambda request: request.messages[-1].content.upper())
    kept: list[Turn] = []
    first = LocalRecord("test", keep=kept.append)
    await first.ask("x", "s", model, asked("a"))
    assert [turn.completion.text for turn in kept if turn.completion] == ["A"]
    again = LocalRecord("test", kept, keep=kept.append)
    for text in ("a", "b"):
        await again.ask("x", "s", model, asked(text))
    assert [turn.completion.text for turn in kept if turn.completion] == ["A", "B"]


async def test_a_turn_answers_only_the_request_it_was_made_for() -> None:
    model = ScriptedModel(lambda request: request.messages[-1].content.upper())
    first = make_record()
    for text in ("a", "b", "c"):
        await first.ask("x", "s", model, asked(text))
    again = make_record(first.trajectory.turns)
    model.requests.clear()
    said = [(await again.ask("x", "s", model, asked(text))).text for text in ("a", "changed", "c")]
    assert said == ["A", "CHANGED", "C"]
    assert [r.messages[-1].content for r in model.requests] == ["changed", "c"], "what followed a changed turn is asked anew"


async def test_only_new_messages_are_kept_with_a_turn() -> None:
    record, model = make_record(), ScriptedModel(lambda _: "yes")
    one, two = asked("one").messages[0], asked("two").messages[0]
    await record.ask("x", "s", model, ChatRequest(messages=(one,)))
    await record.ask("x", "s", model, ChatRequest(messages=(one, two)))
    await record.ask("x", "s", model, ChatRequest(messages=(two,)))
    assert [(t.carried, t.messages) for t in record.trajectory.turns] == [(0, (one,)), (1, (two,)), (0, (two,))]


async def test_outages_are_waited_out_and_seen() -> None:
    waits: list[float] = []
    events: list[EventType] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    model = ScriptedModel([ModelUnavailable("away"), ModelUnavailable("slow down", timedelta(seconds=30)), "back"])
    record = LocalRecord("t", watch=lambda event, *_: events.append(event), pause=pause)
    assert (await record.ask("x", "s", model, asked("a"))).text == "back"
    assert waits == [1.0, 30.0]
    assert events == [EventType.WAITING, EventType.WAITING, EventType.MODEL_CALL]


async def test_pauses_double_to_a_limit_until_patience_ends() -> None:
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    patience = OutagePatience(first=timedelta(seconds=1), longest=timedelta(seconds=3), whole=timedelta(seconds=12))
    record = LocalRecord("t", patience=patience, pause=pause)
    with pytest.raises(ModelUnavailable):
        await record.ask("x", "s", ScriptedModel(lambda _: ModelUnavailable("away")), asked("a"))
    assert waits == [1, 2, 3, 3, 3]


class Broken:
    name, description = "broken", ""
    parameters: Mapping[str, object] = {}

    def __init__(self, *errors: ToolError) -> None:
        self._errors = list(errors)

    async def call(self, arguments: Mapping[str, object]) -> ToolResult:
        raise self._errors.pop(0) if self._errors else ToolError("nothing there")


async def test_a_tools_error_is_a_stored_result() -> None:
    record = make_record()
    result = await record.use("x", Broken(), ToolCall(name="broken", arguments={"query": "a"}))
    assert result.error == "nothing there"
    again = make_record(record.trajectory.turns)
    assert (await again.use("x", Broken(), ToolCall(name="broken", arguments={"query": "a"}))) == result


async def test_a_tool_that_is_away_is_waited_for_and_no_result_of_the_call() -> None:
    waits: list[float] = []

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    call, away = ToolCall(name="broken", arguments={"query": "a"}), ToolUnavailable("the index restarts")
    record = LocalRecord("t", pause=pause)
    assert (await record.use("x", Broken(away, away), call)).error == "nothing there"
    assert (waits, record.outage) == ([1, 2], "")
    with pytest.raises(ToolUnavailable):
        await record.use("x", Broken(*[away] * 99), call)
    assert record.outage == "the index restarts"
    assert len(record.trajectory.turns) == 1


async def test_a_model_that_answers_nothing_at_all_is_an_outage_and_is_not_waited_for() -> None:
    record = make_record()
    for error, outage in ((ModelRefused("too rude"), ""), (ModelUnusable("top it up"), "top it up")):
        with pytest.raises(ModelRefused):
            await record.ask("x", "s", ScriptedModel([error]), asked("a"))
        assert record.outage == outage


async def test_concurrent_calls_of_one_agent_keep_their_order() -> None:
    corpus = SmallCorpus(delay={"tariff": 0.01})
    record = make_record()
    tool = make_kit(ScriptedModel([]), record, corpus).tools["search"]
    calls = [ToolCall(name="search", arguments={"query": q}) for q in ("tariff", "wages", "surplus")]
    results = await asyncio.gather(*(record.use("x", tool, call) for call in calls))
    again = make_record(record.trajectory.turns)
    silent = SmallCorpus()
    tool = make_kit(ScriptedModel([]), again, silent).tools["search"]
    assert await asyncio.gather(*(again.use("x", tool, call) for call in calls)) == results
    assert silent.queries == []


async def test_the_stages_time_replays() -> None:
    now = [100.0]

    def answer(_: ChatRequest) -> str:
        now[0] += 7
        return "x"

    record = LocalRecord("t", clock=lambda: now[0])
    assert record.elapsed_of("search/s1") == 0
    for text in ("a", "b"):
        await record.ask("search/s1", "s", ScriptedModel(answer), asked(text))
    assert record.elapsed_of("search/s1") == 14
    later = LocalRecord("t", record.trajectory.turns, clock=lambda: 5_000.0)
    await later.ask("search/s1", "s", ScriptedModel([]), asked("a"))
    assert later.elapsed_of("search/s1") == 7


async def test_no_new_turn_without_permission() -> None:
    record = LocalRecord("t", allow=lambda agent, usage: StopReason.BUDGET if usage.model_calls else None)
    model = ScriptedModel(lambda _: "x")
    await record.ask("x", "s", model, asked("a"))
    with pytest.raises(BudgetSpent):
        await record.ask("x", "s", model, asked("b"))


async def test_a_running_search_that_is_dropped_hands_over_what_it_has() -> None:
    steering = PlanSteering()

    def allow(agent: str, _: object) -> StopReason | None:
        return StopReason.DROPPED if agent.removeprefix("search/") in steering.dropped else None

    def answer(request: ChatRequest) -> ScriptedAnswer:
        if step_of(request) == "plan":
            return json.dumps({"title": "t", "subtasks": [{"question": "tariff revenue?"}, {"question": "tariff wages?"}]})
        if (
            step_of(request) == "act"
            and len(request.messages) > 3
            and "Your subtask: tariff wages?" in request.messages[1].content
        ):
            steering.drop("s2")
        return json.dumps({"thought": "t", "action": "search", "inputs": [f"tariff {len(request.messages)}"]})

    record = LocalRecord("t", allow=allow)
    report = await run_chain(make_kit(ScriptedModel(answer), record, limits=AgentLimits(max_turns=6)), record, QUESTION, steering)
    assert any("was dropped on request" in notice for notice in report.notices)
    assert len([t for t in record.trajectory.turns if t.agent == "search/s2"]) == 3


SECTIONS = WriterSettings(composition=Composition.SECTIONS)


class Delayed(ScriptedModel):
    """Keeps searches and section writers waiting, each by its own delay."""

    def __init__(self, delays: tuple[float, ...]) -> None:
        super().__init__(answer_sensibly)
        self._delays = delays

    async def complete(self, request: ChatRequest) -> Completion:
        said = "\n".join(m.content for m in request.messages[:2])
        named = re.search(r"Your subtask: tariff and (r|d|p)|Your section: On tariff and (r|d|p)", said)
        await asyncio.sleep(self._delays["rdp".index(named.group(1) or named.group(2))] if named else 0)
        return await super().complete(request)


async def test_the_report_does_not_depend_on_who_finishes_first() -> None:
    """Three parallel searches and their section writers, ending in every order: one and the same report."""
    reports, orders = set(), set()
    for delays in itertools.permutations((0.0, 0.004, 0.008)):
        record = make_record()
        report = await run_chain(make_kit(Delayed(delays), record, SmallCorpus()), record, QUESTION, writer=SECTIONS)
        reports.add(report.model_dump_json())
        orders.add(tuple(t.agent for t in record.trajectory.turns if t.step in ("finding", "section")))
    assert len(orders) > 2, "they did not end in different orders"
    assert len(reports) == 1
    assert len(report.quotes) > 2


@pytest.mark.parametrize(
    ("writer", "headings"),
    [(SECTIONS, ["Summary", "Conclusion"]), (WriterSettings(), ["Summary", "What the messages say"])],
)
async def test_a_model_of_modest_sense_makes_a_report_without_notices(writer: WriterSettings, headings: list[str]) -> None:
    record = make_record()
    report = await run_chain(make_kit(ScriptedModel(answer_sensibly), record), record, QUESTION, writer=writer)
    assert report.notices == ()
    assert [report.sections[0].heading, report.sections[-1].heading] == headings
