"""Self-samples: a policy's outputs for one prompt, their scores, and which of them teach something."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from app.domain.chat import ChatRequest, Completion
from app.domain.errors import InvalidInput, ModelRefused, SetupError
from app.domain.query import Language
from app.domain.writer import Composition
from tests.support.model_stub import serve_model_stub
from tests.training.synthesis.report_rows import QUESTION, make_row, write_prompts
from tests.training.synthesis.set_making import make_kind, read_refused, read_rows
from tests.training.synthesis.stub_runs import describe_home, play_report_writer, read_writing_turn, record_run
from training.synthesis.make_requested_set import make_requested_set
from training.synthesis.self_samples.presets import PRESETS, SampleFault
from training.synthesis.self_samples.prompts import SamplePrompt, read_row
from training.synthesis.self_samples.scoring import find_faults
from training.synthesis.set_request import SetRequest
from workflows.chat_models.scripted import ScriptedModel
from workflows.prompts.library import PromptLibrary

TABLE = "\n\n| what | value |\n| --- | --- |\n| depth | four metres [q1] |\n| paid by | the state [q2] |\n"
FINE = f"# Ashford\n\nThe state paid for the harbour, which became four metres deeper [q1][q2].{TABLE}"
PAST = "# Ashford\n\nThe harbour will be deepened by 1902, and the state is expected to pay for it in 1902 [q1]."
BROKEN = "# Ashford\n\nIt was deepened [q1].\n\n| what | value |\n| depth | four metres |\n| paid by | the state |\n"


def judge_fairly(request: ChatRequest) -> str:
    """Four points for the fine answer, one for the others."""
    return json.dumps({"analysis": "", "score": 4 if "which became four metres deeper" in request.messages[-1].content else 1})


def say_in_turn(*texts: str) -> Callable[[ChatRequest], str]:
    """A policy whose outputs differ from call to call, as at a temperature."""
    turns = count()
    return lambda _: texts[next(turns) % len(texts)]


def wish(source: Path, out: Path, **options: str) -> SetRequest:
    return SetRequest(
        kind="self-samples",
        out=out,
        rows=9,
        inputs=(source,),
        options={"base": "scripted@1", "samples": "3", **options},
        at_once=1,
    )


async def test_the_best_and_the_worst_output_become_a_pair(tmp_path: Path) -> None:
    policy = ScriptedModel(say_in_turn(PAST, FINE, BROKEN))
    request = wish(write_prompts(tmp_path / "prompts.jsonl"), tmp_path / "set", preset="tense", temperature="0.8")
    manifest = await make_kind(request, writer=policy, verifier=ScriptedModel(judge_fairly))
    (row,) = read_rows(tmp_path / "set")
    assert (row["output"], row["side"], row["score"], row["rules"]) == (FINE, "high", 1.0, 1.0)
    assert (row["chosen"], row["rejected"]) == (FINE, PAST)
    assert row["gap"] == pytest.approx(1.0 - 0.5 * 0.25 - 0.5 * 0.2)
    assert [sample["side"] for sample in row["samples"]] == ["high", "between", "low"]
    assert row["samples"][-1]["faults"] == ["a prediction of the past"]
    assert row["prompt"][1]["content"].endswith(f"{QUESTION} 0\n</question>\n\n<task>\nWrite a report.\n</task>")
    assert (row["preset"], row["policy"], row["temperature"]) == ("tense", "scripted", 0.8)
    assert row["documents"] == [f"doc:{QUESTION} 0"]
    assert [(asked.temperature, asked.seed) for asked in policy.requests] == [(0.8, 0), (0.8, 1), (0.8, 2)]
    assert manifest.origin.base == {"scripted": "1"}
    assert manifest.figures["pairs for DPO"] == 1
    assert manifest.figures["outputs: low"] == 1


async def test_a_preset_decides_what_costs_points(tmp_path: Path) -> None:
    source = write_prompts(tmp_path / "prompts.jsonl")
    presets = [preset.name for preset in PRESETS.values() if preset.dimensions]
    for preset in presets:
        policy = ScriptedModel(say_in_turn(PAST, FINE, BROKEN))
        await make_kind(wish(source, tmp_path / preset, preset=preset), writer=policy, verifier=ScriptedModel(judge_fairly))
    faults = {
        preset: {sample["output"]: set(sample["faults"]) for sample in read_rows(tmp_path / preset)[0]["samples"]}
        for preset in presets
    }
    assert faults["tense"][BROKEN] == set()
    assert faults["tables"][BROKEN] == faults["reports"][BROKEN] == {"a faulty table"}
    assert faults["tables"][PAST] == {"no table"}
    assert faults["reports"][PAST] == {"a prediction of the past"}


@pytest.mark.parametrize("form", ["rows", "run"])
async def test_a_policy_is_asked_with_the_bytes_that_the_product_serves(tmp_path: Path, form: str) -> None:
    """Of a stored run, and of the rows of report data that are made of it."""
    async with serve_model_stub(play_report_writer()) as served:
        settings = describe_home(tmp_path, served.base_url)
        run = await record_run(tmp_path, settings, Composition.SINGLE_PASS)
        data = SetRequest("report-data", tmp_path / "data-set", 10, inputs=(run,), options={"benchmark": "drb-race"})
        await make_requested_set(settings, data, lambda _: None)
    source = run if form == "run" else tmp_path / "data-set"
    policy = ScriptedModel(say_in_turn("# A\n\nIt was so [q1].", "# B\n\nIt was not so [q1]."))
    await make_kind(wish(source, tmp_path / "set", samples="2"), writer=policy, verifier=ScriptedModel(judge_fairly))
    asked = {request.messages for request in policy.requests}
    assert asked == {read_writing_turn(run).messages}


async def test_the_report_is_what_stands_in_the_answer_where_tags_are_asked_for(tmp_path: Path) -> None:
    form = PromptLibrary.load().get("form_text_tags", Language.ENGLISH).render_text()
    source = write_prompts(tmp_path / "prompts.jsonl", system_prompt=f"Write a report. {form}")
    told, open_tag = f"<think>so</think><answer>{FINE}</answer>", f"<think>so</think><answer>{FINE}"
    judge = ScriptedModel(lambda _: json.dumps({"score": 4}))
    policy = ScriptedModel(say_in_turn(told, FINE, open_tag))
    await make_kind(wish(source, tmp_path / "set"), writer=policy, verifier=judge)
    (row,) = read_rows(tmp_path / "set")
    assert (row["output"], row["score"]) == (told, 1.0)
    assert {sample["output"]: sample["score"] for sample in row["samples"][1:]} == {FINE: 0.0, open_tag: 0.0}
    assert all("<answer>" not in request.messages[-1].content.rpartition("<answer>")[2] for request in judge.requests)
    assert len(judge.requests) == 4, "each of the four dimensions of the one report"


async def test_the_rubric_generator_that_readers_trained_decides_which_output_is_better(tmp_path: Path) -> None:
    """Votes train a generator of rubrics; its rubric scores a policy's own outputs; the best and the worst are a pair of DPO."""
    said = [{"title": f"Table {n}", "description": f"Key Criterion: has table {n}.", "weight": 5} for n in range(7)]
    generator = ScriptedModel(lambda _: f"<think>so</think><answer>{json.dumps({'criteria': said})}</answer>")
    judge = ScriptedModel(lambda request: json.dumps({"rating": 10 if "| depth |" in request.messages[-1].content else 1}))
    request = wish(write_prompts(tmp_path / "prompts.jsonl"), tmp_path / "set", preset="rubrics", samples="2")
    plain = "# Ashford\n\nThe state paid for the harbour [q2]."
    await make_kind(request, writer=ScriptedModel([plain, FINE]), verifier=judge, generator=generator)
    (row,) = read_rows(tmp_path / "set")
    assert (row["chosen"], row["rejected"]) == (FINE, plain)
    assert [sample["judges"] for sample in row["samples"]] == [[{"dimension": "rubric", "value": v}] for v in (1.0, 0.0)]
    assert [each["title"] for each in row["rubric"]["criteria"]] == [f"Table {n}" for n in range(7)]
    (asked,) = generator.requests
    assert "<answer>" in asked.messages[0].content, "a generator that was trained here is asked in tags"
    assert "Today is 2026-11-02" in asked.messages[0].content


async def test_without_a_generator_no_rubric_scores(tmp_path: Path) -> None:
    request = wish(write_prompts(tmp_path / "prompts.jsonl"), tmp_path / "set", preset="rubrics", samples="2")
    with pytest.raises(SetupError, match="--option generator=URL"):
        await make_kind(request, writer=ScriptedModel([FINE, PAST]), verifier=ScriptedModel([]))


async def test_only_training_rows_of_a_set_are_prompts(tmp_path: Path) -> None:
    for split in ("train", "test"):
        (tmp_path / "source" / split).mkdir(parents=True)
        row, short = make_row(f"{split}: {QUESTION}", language="zh"), make_row("the short form", retrieval=[])
        (tmp_path / "source" / split / "rows.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(short)}\n")
    request = wish(tmp_path / "source", tmp_path / "set", samples="2")
    await make_kind(request, writer=ScriptedModel(say_in_turn(FINE, PAST)), verifier=ScriptedModel(judge_fairly))
    found = [row["query"] for row in read_rows(tmp_path / "set")] + [
        each["data"]["query"] for each in read_refused(tmp_path / "set")
    ]
    assert found == [f"train: {QUESTION}"]


async def test_without_a_weight_no_judge_is_asked(tmp_path: Path) -> None:
    policy, judge = ScriptedModel(say_in_turn(PAST, FINE, BROKEN)), ScriptedModel([])
    request = wish(write_prompts(tmp_path / "prompts.jsonl"), tmp_path / "set", preset="tense", judges="0")
    await make_kind(request, writer=policy, verifier=judge)
    (row,) = read_rows(tmp_path / "set")
    assert judge.requests == []
    assert (row["rejected"], row["judges"]) == (PAST, [])
    assert row["gap"] == pytest.approx(0.8)


async def test_of_outputs_with_the_same_score_the_shorter_one_is_not_preferred(tmp_path: Path) -> None:
    """An output and one that goes on after it, both faultless: neither is chosen more often."""
    pairs = [(f"The harbour has {n} piers [q1].", f"The harbour has {n} piers [q1]. They are of oak [q2].") for n in range(40)]
    says = {number: text for n, pair in enumerate(pairs) for number, text in ((2 * n, pair[0]), (2 * n + 1, pair[1]))}
    policy = ScriptedModel(say_in_turn(*says.values()))
    request = wish(write_prompts(tmp_path / "prompts.jsonl", 40), tmp_path / "set", preset="tense", samples="2", judges="0")
    await make_kind(replace(request, rows=40), writer=policy, verifier=ScriptedModel([]))
    chosen = [row["output"] for row in read_rows(tmp_path / "set")]
    assert 10 < sum("oak" in each for each in chosen) < 30


@pytest.mark.parametrize(
    ("outputs", "points", "stage"),
    [
        ([FINE, FINE, FINE], 4, "sampling"),
        (["", "  ", FINE], 4, "sampling"),
        ([FINE, PAST, ModelRefused("no")], 4, "sampling"),
        ([FINE, PAST, BROKEN], 9, "judge"),
        ([FINE, PAST, BROKEN], 0, "scores"),
    ],
)
async def test_prompts_that_teach_nothing_fall_out(tmp_path: Path, outputs: list[Any], points: int, stage: str) -> None:
    judge = ScriptedModel(lambda _: json.dumps({"score": points}))
    request = wish(write_prompts(tmp_path / "prompts.jsonl"), tmp_path / "set")
    assert (await make_kind(request, writer=ScriptedModel(outputs), verifier=judge)).refused == {stage: 1}


async def test_outputs_that_hardly_differ_are_no_pair(tmp_path: Path) -> None:
    better = FINE.replace("The state paid", "The state itself paid")
    request = wish(write_prompts(tmp_path / "prompts.jsonl"), tmp_path / "set", samples="2")
    judge = ScriptedModel(lambda _: json.dumps({"score": 4}))
    await make_kind(request, writer=ScriptedModel([FINE, better]), verifier=judge)
    (row,) = read_rows(tmp_path / "set")
    assert (row["chosen"], row["rejected"], row["gap"]) == ("", "", 0.0)


async def test_stored_samples_are_not_asked_again(tmp_path: Path) -> None:
    request = wish(write_prompts(tmp_path / "prompts.jsonl", 5), tmp_path / "set")
    await make_kind(request, writer=ScriptedModel(say_in_turn(PAST, FINE, BROKEN)), verifier=ScriptedModel(judge_fairly))
    before = (tmp_path / "set/manifest.json").read_bytes()
    (tmp_path / "set/work/journal.jsonl").unlink()
    silent = ScriptedModel([])
    await make_kind(request, writer=silent, verifier=silent)
    assert silent.requests == []
    assert (tmp_path / "set/manifest.json").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": "0"}, "temperature above 0"),
        ({"temperature": "-1"}, "is a number, not '-1'"),
        ({"samples": "1"}, "at least 2 samples"),
        ({"preset": "rhymes"}, "no preset 'rhymes'"),
        ({"speed": "1"}, "no option 'speed'"),
        ({"base": ""}, "whose samples are they"),
    ],
)
async def test_what_cannot_be_used_is_said(tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        await make_kind(wish(write_prompts(tmp_path / "prompts.jsonl"), tmp_path / "set", **options))


async def test_other_rows_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"query": QUESTION}))
    with pytest.raises(InvalidInput, match="no row of report-data"):
        await make_kind(wish(tmp_path / "rows.jsonl", tmp_path / "set"))


async def test_rows_without_evidence_have_no_prompt_and_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no --input has a prompt"):
        await make_kind(wish(write_prompts(tmp_path / "prompts.jsonl", retrieval=[]), tmp_path / "set"))


def read_prompt() -> SamplePrompt:
    prompt = read_row(make_row(QUESTION), PromptLibrary.load(), date(2026, 11, 2))
    assert prompt is not None
    return prompt


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("It was deepened [q9].", SampleFault.CITATION),
        ("It was deepened [[0123456789abcdef]].", SampleFault.CITATION),
        ("It was deepened [q1] and [p2].", SampleFault.CITATION),
        ("It was deepened.", SampleFault.UNCITED),
        ("It was deepened [1].", SampleFault.UNCITED),
        ("Steps [q1]:\n\n1. one\n2. two\n4. four", SampleFault.MARKDOWN),
        ("# A\n\nIt was [q1].\n\n### C\n\nIt was [q1].", SampleFault.HEADING),
        ("The harbour was deepened [q1].\n\n" + "港口在一九〇二年被加深了四米，由国家出资完成。" * 2, SampleFault.LANGUAGE),
        ("  ", SampleFault.FORM),
    ],
)
def test_the_detectors_see_planted_faults(text: str, fault: SampleFault) -> None:
    assert fault in find_faults(Completion(text=text, model="m"), read_prompt())
    assert find_faults(Completion(text=FINE, model="m"), read_prompt()) == frozenset()


def test_an_output_that_was_cut_off_has_no_points_of_rules() -> None:
    cut = Completion(text=FINE, model="m", finish_reason="length")
    assert find_faults(cut, read_prompt()) == {SampleFault.CUT}
    assert all(preset.penalties[SampleFault.CUT] == 1.0 for preset in PRESETS.values())
