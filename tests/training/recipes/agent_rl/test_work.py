"""Rollouts of whole agents and their rewards: the product's systems on a tape, and a judge over a socket."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from app.domain.chat import ChatRequest, ToolCall, ToolResult
from app.domain.errors import InvalidInput
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.missing import Missing
from app.domain.query import Language
from app.domain.split import Split
from retrieval.tape import Tape
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.support.model_stub_answers import StubPrompt
from tests.support.model_stub_faults import Fault
from tests.support.training_sets import write_set
from tests.training.rewards.test_obedient_policies import obey
from training.recipes.agent_rl.config import AgentRLConfig
from training.recipes.agent_rl.data import read_tasks
from training.recipes.agent_rl.work import open_work
from training.rollouts.collect import Collector
from training.rollouts.collector_settings import CollectorSettings
from training.rollouts.nouns import Rollout
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.baseline_rubric import BASELINE

TEXT = "The tariff was to bring revenue. It was laid in 1824."
REPORT = '<think>t</think><answer><cite id="p1">The tariff was to bring revenue.</cite></answer>'
JUDGED = {
    "criterion_met": {"analysis": "a", "score": 3},
    "cited_support": {"analysis": "a", "rating": "full"},
    "cited_relevance": {"analysis": "a", "result": "yes"},
    "needs_citation": {"analysis": "a", "result": "no"},
    "criterion": {"analysis": "a", "rating": 10},
}


def make_config(folder: Path, url: str, temperature: float = 0.0, **said: Any) -> AgentRLConfig:
    if not (folder / "evidence-trees").exists():
        write_set(folder / "evidence-trees", "evidence-trees", 10)
    tape = Tape()
    source = Source(url="https://example.org/1", title="Tariffs", snapshot=snapshot_hash(TEXT))
    found = ToolResult(passages=(Passage(source=source, text=TEXT, start=0, end=len(TEXT)),))
    for query in ("tariff revenue", "tariff protection"):
        tape.record(ToolCall(name="search", arguments={"query": query}), found)
    tape.save(folder / "tape.jsonl")
    sections: dict[str, Any] = {
        "model": {"base": "tiny-random"},
        "optimizer": {"learning_rate": 1e-3},
        "rollouts": {"tasks_a_step": 1, "most_tokens": 64, "context": 4096},
        "data": {"sets": [str(folder / "evidence-trees")]},
        "tools": {"tape": str(folder / "tape.jsonl")},
        "chain": {"turns": 4, "calls_per_turn": 2, "observation_tokens": 500},
        "judge": {"url": url, "model": "judge", "temperature": temperature},
    }
    return AgentRLConfig.model_validate(sections | said)


def answer_judge(prompt: StubPrompt) -> str:
    return json.dumps(JUDGED[prompt.step])


def search_and_report(request: ChatRequest) -> str:
    """Search once, then give the report in one answer."""
    if len(request.messages) > 2:
        return REPORT
    return '<think>t</think><tool_call>{"name": "search", "arguments": {"query": "tariff revenue"}}</tool_call>'


async def sample(config: AgentRLConfig, folder: Path, policy: Any) -> Rollout:
    task = read_tasks(config.data, Split.TRAIN)[0]
    settings = CollectorSettings(group_size=1, groups_a_step=1, most_missing_share=1.0, most_tries=1)
    opened = open_work(config, folder, lambda _: ScriptedModel(policy))
    async with opened as work, Collector([task], work, settings) as collector:
        groups = await collector.next_batch(1)
    return groups[0].rollouts[0]


async def test_deeprubrics_reward_of_a_report_in_one_conversation(tmp_path: Path) -> None:
    async with serve_model_stub(ModelStub(answerer=answer_judge)) as stub:
        config = make_config(tmp_path, stub.base_url, one_conversation=True)
        rollout = await sample(config, tmp_path, search_and_report)
    assert len([turn for turn in rollout.trajectory.turns if turn.completion]) == 2
    # Three of four points for each criterion; the form is whole; one citation that is right, at the beginning of the report:
    # .6 + .4 (.7 + .2 / 6); one search of six.
    parts = {"rubric": 0.75, "format": 1.0, "citation": 0.6 + 0.4 * (0.7 + 0.2 / 6), "search": 1 / 6}
    assert rollout.reward.parts == pytest.approx(parts)
    assert rollout.reward.value == pytest.approx(0.5 * 0.75 + 0.2 + 0.2 * parts["citation"] + 0.1 / 6)


async def test_a_report_without_words_needs_no_judge(tmp_path: Path) -> None:
    config = make_config(tmp_path, "http://127.0.0.1:9/v1", one_conversation=True)
    rollout = await sample(config, tmp_path, lambda _: "I do not know how.")
    assert rollout.reward.parts["rubric"] == rollout.reward.parts["citation"] == 0.0
    assert not isinstance(rollout.reward.value, Missing)


@pytest.mark.parametrize("system", ["mams", "minddr", "react", "deeprubric"])
async def test_each_system_is_rewarded_by_the_rubric_alone(system: str, tmp_path: Path) -> None:
    async with serve_model_stub(ModelStub(answerer=answer_judge)) as stub:
        config = make_config(tmp_path, stub.base_url, system=system, reward={"kind": "rubric"})
        rollout = await sample(config, tmp_path, obey)
    assert rollout.output, rollout.detail
    assert rollout.reward.value == pytest.approx(0.75)
    if system == "mams":
        assert {turn.agent for turn in rollout.trajectory.turns if turn.completion} == {
            "search/s1",
            "search/s1/state",
            "search/s1/report",
        }


async def test_a_rubric_of_another_source_is_rated(tmp_path: Path) -> None:
    async with serve_model_stub(ModelStub(answerer=answer_judge)) as stub:
        data = {"sets": [str(tmp_path / "evidence-trees")], "rubrics": "general"}
        rollout = await sample(
            make_config(tmp_path, stub.base_url, one_conversation=True, data=data), tmp_path, search_and_report
        )
    # Every item is matched, also the faults, which have weights -1 and -2; the demands have 36.
    assert rollout.reward.parts["rubric"] == pytest.approx(1 - 3 / 36)


def test_the_general_rubric_is_the_same_for_each_question(tmp_path: Path) -> None:
    data = {"sets": [str(tmp_path / "evidence-trees")], "rubrics": "general"}
    tasks = read_tasks(make_config(tmp_path, "http://127.0.0.1:9/v1", data=data).data, Split.TRAIN)
    assert len({task.question for task in tasks}) > 1
    assert [task.material for task in tasks] == [BASELINE[Language.ENGLISH]] * len(tasks)


async def test_nothing_is_sampled_for_a_question_whose_rubric_cannot_be_written(tmp_path: Path) -> None:
    asked: list[ChatRequest] = []

    def report(request: ChatRequest) -> str:
        asked.append(request)
        return REPORT

    async with serve_model_stub(ModelStub(answerer=lambda _: "I will not say.")) as stub:
        data = {"sets": [str(tmp_path / "evidence-trees")], "rubrics": "prompted"}
        generator = {"url": stub.base_url, "model": "writer"}
        config = make_config(tmp_path, stub.base_url, one_conversation=True, data=data, generator=generator)
        settings = CollectorSettings(group_size=2, groups_a_step=1, most_tries=2)
        opened = open_work(config, tmp_path, lambda _: ScriptedModel(report))
        async with opened as work, Collector(read_tasks(config.data, Split.TRAIN)[:1], work, settings) as collector:
            assert await collector.next_batch(1) == ()
    assert (collector.counts.failed, collector.counts.given_up, asked) == (4, 1, [])


async def test_a_question_whose_rubric_could_be_written_later_is_sampled_again_and_not_punished(tmp_path: Path) -> None:
    demands = [
        {"title": f"the year {n}", "description": f"Key Criterion: the report names the year {n}.", "weight": 5}
        for n in range(1820, 1827)
    ]

    def answer(prompt: StubPrompt) -> str:
        return json.dumps({"criteria": demands}) if prompt.step == "rubric" else answer_judge(prompt)

    async with serve_model_stub(ModelStub(answerer=answer)) as stub:
        stub.faults.order(Fault.UNAUTHORIZED, step="rubric")
        data = {"sets": [str(tmp_path / "evidence-trees")], "rubrics": "prompted"}
        generator = {"url": stub.base_url, "model": "writer"}
        config = make_config(tmp_path, stub.base_url, one_conversation=True, data=data, generator=generator)
        settings = CollectorSettings(group_size=1, groups_a_step=1, most_tries=2)
        opened = open_work(config, tmp_path, lambda _: ScriptedModel(search_and_report))
        async with opened as work, Collector(read_tasks(config.data, Split.TRAIN)[:1], work, settings) as collector:
            [group] = await collector.next_batch(1)
    assert group.rollouts[0].output
    assert group.rewards[0] > 0
    assert (collector.counts.failed, collector.counts.too_many_missing) == (1, 1)


async def test_a_judge_is_asked_at_its_temperature(tmp_path: Path) -> None:
    asked: list[float] = []

    def answer(prompt: StubPrompt) -> str:
        asked.append(prompt.temperature)
        return answer_judge(prompt)

    async with serve_model_stub(ModelStub(answerer=answer)) as stub:
        config = make_config(tmp_path, stub.base_url, 0.3, one_conversation=True)
        await sample(config, tmp_path, search_and_report)
    assert set(asked) == {0.3}


def test_the_first_rows_can_be_left_to_the_cold_start(tmp_path: Path) -> None:
    def list_ids(**said: Any) -> list[str]:
        data = {"sets": [str(tmp_path / "evidence-trees")], **said}
        return [task.id for task in read_tasks(make_config(tmp_path, "http://127.0.0.1:9/v1", data=data).data, Split.TRAIN)]

    assert list_ids(skip_rows=2, most_rows=3) == list_ids()[2:5]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"data": {"sets": ["s"], "rubrics": "rl"}}, "generator"),
        ({"system": "mams", "one_conversation": True}, "one_conversation"),
        ({"system": "minddr"}, "reads one conversation"),
        ({"tools": {}}, "name a tape"),
    ],
)
def test_parts_that_do_not_fit_are_refused(said: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match=message):
        make_config(tmp_path, "http://127.0.0.1:9/v1", **said)


@pytest.mark.parametrize("kind", ["preference-pairs", "graph-queries", "report-data"])
def test_any_set_with_queries_gives_tasks_where_rubrics_are_written(tmp_path: Path, kind: str) -> None:
    """Readers' consented questions among them: their pairs have them."""
    sets = [str(write_set(tmp_path / kind, kind, 10)), str(write_set(tmp_path / "trees", "evidence-trees", 3))]
    generator = {"url": "http://127.0.0.1:1/v1", "model": "writer"}
    written = make_config(tmp_path, "http://127.0.0.1:1/v1", data={"sets": sets, "rubrics": "rl"}, generator=generator)
    tasks = read_tasks(written.data, Split.TRAIN)
    assert len({task.question for task in tasks}) == len(tasks) > 0
    assert {task.material for task in tasks} == {None}
    general = make_config(tmp_path, "http://127.0.0.1:1/v1", data={"sets": sets[:1], "rubrics": "general"})
    assert next(task.material for task in read_tasks(general.data, Split.TRAIN)) == BASELINE[Language.ENGLISH]
    of_trees = make_config(tmp_path, "http://127.0.0.1:1/v1", data={"sets": sets[:1]})
    with pytest.raises(InvalidInput, match="learns from evidence-trees"):
        read_tasks(of_trees.data, Split.TRAIN)
