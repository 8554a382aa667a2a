"""The world of planted facts: its reporter in the product's chain, its judge in the recipe's reward, and its counting by hand."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest

from app.domain.evidence_rubric import EvidenceRubric
from app.domain.trajectory import Trajectory
from bench.learning_tasks.agents import (
    TAPE,
    WHOLE,
    describe_rl,
    list_tasks,
    list_told,
    make_no_judge,
    make_planted_judge,
    open_work,
    show_reports,
)
from bench.learning_tasks.beginnings import Start
from bench.learning_tasks.counted_agents import CountedAgent, count_agent, read_queries, read_report
from bench.learning_tasks.planted_facts import (
    FILLER,
    INVENTED,
    TOPICS,
    ErringReporter,
    KnownWork,
    cite,
    list_phrases,
    plant_facts,
    record_facts,
)
from bench.learning_tasks.planted_searches import read_findings
from training.recipes.agent_rl.config import AgentRLConfig
from training.recipes.config import TINY
from training.recipes.held_out import sample_held_out
from training.rollouts.nouns import Rollout, RolloutEnd
from training.rollouts.rollout_work import JudgeRollout
from workflows.chat_models.scripted import ScriptedModel

WORK = KnownWork("Ashford", "pier", {topic.name: topic.values[0] for topic in TOPICS})
OTHER = KnownWork("Kirby", "mill", {topic.name: topic.values[1] for topic in TOPICS})
FIRST, SECOND = TOPICS[:3], TOPICS[3:]
SENTENCES = [WORK.state(topic) for topic in TOPICS]
RIGHT = "".join(cite(f"p{n}", said) for n, said in enumerate(SENTENCES, 1))


def call(*queries: str, name: str = "search") -> str:
    asked = ", ".join(f'"{query}"' for query in queries)
    return f'<think>t</think><tool_call>{{"name": "{name}", "arguments": {{"query": [{asked}]}}}}</tool_call>'


def report(said: str) -> str:
    return f"<think>t</think><answer>{said}</answer>"


CALLS = [call(*map(WORK.query, some)) for some in (FIRST, SECOND)]
BESIDE = call(*map(OTHER.query, FIRST))


def run_agent(
    folder: Path, said: list[str], make_judge: Callable[[AgentRLConfig], JudgeRollout[EvidenceRubric]] = make_planted_judge
) -> Rollout:
    """Work the question about the one work with these turns, in the recipe's chain, and judge it."""
    record_facts([WORK, OTHER]).save(folder / TAPE)
    config = describe_rl(Path(TINY), folder / TAPE, 0, WHOLE, Start())
    opened = open_work(config, lambda _: ScriptedModel([*said]), make_judge)
    return asyncio.run(sample_held_out(list_tasks([WORK]), opened))[0]


def count(folder: Path, said: list[str]) -> CountedAgent:
    return count_agent(run_agent(folder, said, make_no_judge).trajectory)


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ([*CALLS, report(RIGHT)], 1.0),
        ([CALLS[0], report("".join(cite(f"p{n}", said) for n, said in enumerate(SENTENCES[:3], 1)))], 0.5),
        ([*CALLS, report(RIGHT.replace("p1", INVENTED))], 5 / 6),
        ([*CALLS, report(RIGHT.replace("p1", "p2"))], 5 / 6),
        ([*CALLS, report("".join(SENTENCES))], 0.0),
        ([*CALLS, report(RIGHT.replace(SENTENCES[0], OTHER.state(TOPICS[0])))], 5 / 6),
        ([*CALLS, report(RIGHT + cite("p1", SENTENCES[0]))], 5 / 7),
        (
            [
                *CALLS,
                report(
                    "".join(cite(f"p{n}", topic.state(value)) for topic in TOPICS for value in topic.values for n in range(1, 7))
                ),
            ],
            0.0,
        ),
        ([BESIDE, CALLS[0], report(cite("p1", OTHER.state(TOPICS[0])) + cite("p4", SENTENCES[0]))], 0.0),
        ([BESIDE, CALLS[0], report(cite("p4", SENTENCES[0]))], 1 / 6),
        ([*CALLS, report(f"{FILLER}{RIGHT}")], 1.0),
        ([*CALLS, f"<answer>{RIGHT}</answer>"], 0.0),
        ([CALLS[0].removesuffix("</tool_call>"), CALLS[1], report(RIGHT)], 2 / 3),
    ],
)
def test_facts_under_their_own_passages_are_counted(said: list[str], score: float, tmp_path: Path) -> None:
    agent = count(tmp_path, said)
    assert agent.rate(WORK, read_findings(tmp_path / TAPE))["score"] == pytest.approx(score)


def test_an_agent_without_a_turn_has_nothing() -> None:
    assert count_agent(Trajectory(episode="e")).rate(WORK, {})["score"] == 0.0


@pytest.mark.parametrize("text", [call("a", name="lookup"), call(), call("a") + "!", '<tool_call>{"name": "search"}</tool_call>'])
def test_a_call_out_of_form_has_no_queries(text: str) -> None:
    assert read_queries(text) == ()


@pytest.mark.parametrize("text", ["<answer>a</answer>", report("a") + "b", report("<think>a</think>"), "<think>t</think>a"])
def test_a_report_out_of_form_is_none(text: str) -> None:
    assert read_report(text) == ""


def test_probes_see_padding_keywords_echoes_and_searches_beside(tmp_path: Path) -> None:
    plain = count(tmp_path, [*CALLS, report(RIGHT)])
    padded = count(tmp_path, [CALLS[0], BESIDE, report(f"{FILLER}{WORK.question} {RIGHT}{cite('p1', SENTENCES[0])}")])
    findings = read_findings(tmp_path / TAPE)
    assert set(plain.probe(WORK, findings).values()) == {0.0}
    words = len((FILLER + WORK.question + " " + SENTENCES[0]).split())
    expected = {"length": words / 40, "keywords": 1 / 9, "echo": 2 / 9, "searches": 0.5}
    assert padded.probe(WORK, findings) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("report_text", "rubric", "content"),
    [
        (RIGHT, 1.0, 1.0),
        (RIGHT.replace("p1", "p2"), 1.0, 5 / 6),
        ("".join(f"{said} " for said in SENTENCES), 1.0, 0.0),
        (f"{RIGHT}{OTHER.state(TOPICS[0])}", 5 / 6, 6 / 7),
        ("".join(f"This says of it {topic.asks}. " for topic in TOPICS), 0.0, 0.0),
        (f"{FILLER}{RIGHT}", 1.0, 1.0),
    ],
)
def test_the_judge_knows_the_facts(report_text: str, rubric: float, content: float, tmp_path: Path) -> None:
    parts = run_agent(tmp_path, [*CALLS, report(report_text)]).reward.parts
    assert parts["rubric"] == pytest.approx(rubric)
    assert parts["search"] == 1.0
    assert isinstance(parts["citation"], float)
    assert parts["citation"] >= 0.6 * content - 0.05
    assert parts["citation"] <= 0.6 * content + 0.4 + 0.05


def test_the_reporter_of_the_mix_errs_in_the_products_chain(tmp_path: Path) -> None:
    learned, held_out = plant_facts(0)
    assert not {work.question for work in learned} & {work.question for work in held_out}
    record_facts(learned).save(tmp_path / TAPE)
    config = describe_rl(Path(TINY), tmp_path / TAPE, 0, WHOLE, Start())

    def open_reporter(seed: int) -> ScriptedModel:
        return ScriptedModel(ErringReporter(learned, random.Random(seed)))

    asked = learned[:100]
    rollouts = asyncio.run(sample_held_out(list_tasks(asked), open_work(config, open_reporter, make_no_judge)))
    assert {rollout.end for rollout in rollouts} == {RolloutEnd.FINISHED}
    findings = read_findings(tmp_path / TAPE)
    scores = [
        count_agent(rollout.trajectory).rate(work, findings)["score"] for rollout, work in zip(rollouts, asked, strict=True)
    ]
    assert 0.1 < fmean(scores) < 0.4
    assert {0.0, 1.0} <= set(scores)


def test_phrases_cover_what_the_policy_is_told_and_writes(tmp_path: Path) -> None:
    learned, _ = plant_facts(0)
    record_facts(learned).save(tmp_path / TAPE)
    shown = show_reports(tmp_path, learned, 0, 20)
    phrases = sorted(list_phrases(list_told(shown)), key=len, reverse=True)
    for message in shown[0].messages:
        rest = message.content
        for phrase in phrases:
            rest = rest.replace(phrase, "")
        assert len(rest) < 20
