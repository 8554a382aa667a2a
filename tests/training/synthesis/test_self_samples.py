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
from app.domain.errors import InvalidInput, ModelRefused
from app.domain.query import Language
from tests.training.synthesis.recorded_run_folders import SENTENCES, make_report, write_run
from tests.training.synthesis.set_making import make_kind, read_refused, read_rows
from training.synthesis.self_samples.presets import PRESETS, SampleFault
from training.synthesis.self_samples.prompts import SamplePrompt
from training.synthesis.self_samples.scoring import find_faults
from training.synthesis.set_request import SetRequest
from workflows.chat_models.scripted import ScriptedModel

QUESTION = "How was the harbour of Ashford deepened?"
TABLE = "\n\n| what | value |\n| --- | --- |\n| depth | four metres [1] |\n| paid by | the state [2] |\n"
FINE = f"# Ashford\n\nThe state paid for the harbour, which became four metres deeper [1][2].{TABLE}"
PAST = "# Ashford\n\nThe harbour will be deepened by 1902, and the state is expected to pay for it in 1902 [1]."
BROKEN = "# Ashford\n\nIt was deepened [1].\n\n| what | value |\n| depth | four metres |\n| paid by | the state |\n"


def judge_fairly(request: ChatRequest) -> str:
    """Four points for the fine answer, one for the others."""
    return json.dumps({"analysis": "", "score": 4 if FINE in request.messages[-1].content else 1})


def say_in_turn(*texts: str) -> Callable[[ChatRequest], str]:
    """A policy whose outputs differ from call to call, as at a temperature."""
    turns = count()
    return lambda _: texts[next(turns) % len(texts)]


def write_prompts(path: Path, prompts: int = 1) -> Path:
    rows = [
        {
            "prompt": [{"role": "user", "content": f"{QUESTION} Number {n}. Passages: [1] ... [2] ..."}],
            "query": f"{QUESTION} {n}",
            "language": "en",
            "topic": "History",
            "documents": [f"https://ports.example/{n}"],
        }
        for n in range(prompts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def wish(source: Path, out: Path, **options: str) -> SetRequest:
    return SetRequest(kind="self-samples", out=out, rows=9, inputs=(source,), options={"samples": "3", **options}, at_once=1)


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
    assert row["prompt"][0]["content"].startswith(QUESTION)
    assert (row["preset"], row["policy"], row["temperature"]) == ("tense", "scripted", 0.8)
    assert row["documents"] == ["https://ports.example/0"]
    assert [(asked.temperature, asked.seed) for asked in policy.requests] == [(0.8, 0), (0.8, 1), (0.8, 2)]
    assert manifest.figures["pairs for DPO"] == 1
    assert manifest.figures["outputs: low"] == 1


async def test_a_preset_decides_what_costs_points(tmp_path: Path) -> None:
    source = write_prompts(tmp_path / "prompts.jsonl")
    for preset in PRESETS:
        policy = ScriptedModel(say_in_turn(PAST, FINE, BROKEN))
        await make_kind(wish(source, tmp_path / preset, preset=preset), writer=policy, verifier=ScriptedModel(judge_fairly))
    faults = {
        preset: {sample["output"]: set(sample["faults"]) for sample in read_rows(tmp_path / preset)[0]["samples"]}
        for preset in PRESETS
    }
    assert faults["tense"][BROKEN] == set()
    assert faults["tables"][BROKEN] == faults["reports"][BROKEN] == {"a faulty table"}
    assert faults["tables"][PAST] == {"no table"}
    assert faults["reports"][PAST] == {"a prediction of the past"}


async def test_prompts_are_made_of_recorded_reports_with_their_evidence(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", "m", "minddr", None, {QUESTION: make_report("It was deepened {1}{0}.")})
    policy = ScriptedModel(say_in_turn(FINE, PAST))
    await make_kind(wish(run, tmp_path / "set", samples="2"), writer=policy, verifier=ScriptedModel(judge_fairly))
    (row,) = read_rows(tmp_path / "set")
    prompt = "\n".join(message["content"] for message in row["prompt"])
    assert f"[1] Ashford: {SENTENCES[1]}" in prompt
    assert f"[2] Ashford: {SENTENCES[0]}" in prompt
    assert "- Its harbour" in prompt
    assert row["documents"] == ["https://ports.example/ashford"]


async def test_only_training_rows_of_a_set_are_prompts(tmp_path: Path) -> None:
    for split in ("train", "test"):
        (tmp_path / "source" / split).mkdir(parents=True)
        retrieval = [{"url": "https://ports.example/a", "title": "A", "text": "The harbour was deepened."}]
        outline = {"title": "", "sections": [{"heading": "Depth", "brief": "", "parts": []}]}
        row = {"query": f"{split}: {QUESTION}", "language": "zh", "retrieval": retrieval, "outline": outline}
        short = {"query": "the short form", "retrieval": []}
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
    pairs = [(f"The harbour has {n} piers [1].", f"The harbour has {n} piers [1]. They are of oak [2].") for n in range(40)]
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
    ],
)
async def test_what_cannot_be_used_is_said(tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        await make_kind(wish(write_prompts(tmp_path / "prompts.jsonl"), tmp_path / "set", **options))


async def test_rows_without_evidence_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps({"query": QUESTION}))
    with pytest.raises(InvalidInput, match="neither a prompt nor a retrieval"):
        await make_kind(wish(tmp_path / "rows.jsonl", tmp_path / "set"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("It was deepened [9].", SampleFault.CITATION),
        ("It was deepened [[0123456789abcdef]].", SampleFault.CITATION),
        ("It was deepened.", SampleFault.UNCITED),
        ("Steps [1]:\n\n1. one\n2. two\n4. four", SampleFault.MARKDOWN),
        ("# A\n\nIt was [1].\n\n### C\n\nIt was [1].", SampleFault.HEADING),
        ("The harbour was deepened [1].\n\n" + "港口在一九〇二年被加深了四米，由国家出资完成。" * 2, SampleFault.LANGUAGE),
    ],
)
def test_the_detectors_see_planted_faults(text: str, fault: SampleFault) -> None:
    prompt = SamplePrompt(QUESTION, Language.ENGLISH, "", (), (), passages=2)
    assert fault in find_faults(Completion(text=text, model="m"), prompt, date(2026, 11, 2))
    assert find_faults(Completion(text=FINE, model="m"), prompt, date(2026, 11, 2)) == frozenset()


def test_an_output_that_was_cut_off_has_no_points_of_rules() -> None:
    prompt = SamplePrompt(QUESTION, Language.ENGLISH, "", (), ())
    cut = Completion(text=FINE, model="m", finish_reason="length")
    assert find_faults(cut, prompt, date(2026, 11, 2)) == {SampleFault.CUT}
    assert all(preset.penalties[SampleFault.CUT] == 1.0 for preset in PRESETS.values())
