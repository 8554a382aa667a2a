"""Scores one item of a benchmark by a judge that is a function of what it is shown."""

import json
import re
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from app.domain.chat import ChatRequest
from app.domain.trajectory import Turn
from training.evaluation.benchmarks.catalogue import load_benchmark
from training.evaluation.harness.example import BenchmarkAnswer, BenchmarkInput
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores
from workflows.agents.codec import SchemaCodec
from workflows.agents.kit import Kit
from workflows.chat_models.scripted import ScriptedModel
from workflows.judging.batch_record import AnswerStore, BatchRecord
from workflows.prompts.library import PromptLibrary

PROMPTS = PromptLibrary.load()
Judge = Callable[[str, str], Any]


def make_judging(
    judge: Judge, variant: str = "", pages: dict[str, str] | None = None, turns: Sequence[Turn] = (), writer: Judge | None = None
) -> Judging:
    record = BatchRecord(AnswerStore(), 4)
    kits = [
        Kit(_make_model(asked), {}, record, PROMPTS, SchemaCodec(), date(2026, 1, 1), lambda: 0.0)
        for asked in (judge, writer or judge)
    ]
    return Judging(kits[0], kits[1], lambda name: (pages or {})[name], lambda _: turns, variant)


def _make_model(judge: Judge) -> ScriptedModel:
    def answer(request: ChatRequest) -> str:
        step = request.response_schema.name if request.response_schema else ""
        return json.dumps(judge(step, request.messages[-1].content))

    return ScriptedModel(answer)


async def score_first_item(name: str, data: Path, text: str, judge: Judge, **given: Any) -> ItemScores:
    """Score an answer to the first item."""
    found = load_benchmark(name)
    example = found.read(BenchmarkInput(data, given.get("variant", "")))[0]
    assert all(path.is_file() for path in found.files(BenchmarkInput(data)))
    answer = BenchmarkAnswer(item=example.id, text=text, report=given.pop("report", None), pages=given.pop("cited", {}))
    return await found.score(example, answer, make_judging(judge, **given))


def cut_tag(prompt: str, tag: str) -> str:
    return prompt.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]


def read_numbered(listed: str) -> list[tuple[int, str]]:
    return [(int(n), text) for n, text in re.findall(r"^(\d+)\. (.*)$", listed, re.MULTILINE)]


def judge_short_answer(step: str, prompt: str) -> Any:
    """Judge a short answer: take the words in bold, and accept them when they hold the gold answer."""
    if step == "short_answer":
        found = re.search(r"\*\*(.+?)\*\*", cut_tag(prompt, "report"))
        return {"answer": found.group(1) if found else ""}
    return {"result": "yes" if cut_tag(prompt, "correct_answer").strip() in cut_tag(prompt, "answer") else "no"}
