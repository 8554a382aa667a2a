"""The exam of a searcher: two models on a real server search a real index by the product's own loop."""

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput
from app.domain.retraining import StepTask, StepVerdict
from app.domain.served_models import ModelRole
from retrieval.search.in_process import open_local
from retrieval.store.catalogue import Collection, CorpusKind
from tests.support.adapter_server import BASE, AdapterServer, serve_adapters
from tests.training.loop.exam_stage import (
    SEARCHER_GATE,
    TRAINED,
    make_answered_row,
    make_task,
    own_set,
    read_scores,
    take_exam_and_gate,
    write_sided_set,
)
from tests.training.loop.reader_export import make_question

EXAM = """
kind = "searches"
[world]
home = "{home}"
collections = ["piers"]
{states}
[chain]
turns = 4
calls_per_turn = 2
observation_tokens = 800
"""
ROWS = 28
ASKED = re.compile(r"Why did (\w+) (\w+) lend")
READ = re.compile(r"(\w+) measured (\w+) at (\d+) fathoms\.")
Speech = Callable[[str, Sequence[str]], str]


def search(messages: Sequence[str], knows: bool = True) -> str:
    """Search by the names in the question, end, and quote what was found."""
    found = ASKED.search("\n".join(messages))
    assert found
    if "The search is over" not in messages[-1]:
        call = json.dumps({"name": "search", "arguments": {"query": f"{found[1]} {found[2]}"}})
        return f"<think>t</think><tool_call>{call}</tool_call>" if len(messages) < 4 else "<think>t</think><answer>done</answer>"
    read = next((each for each in READ.finditer("\n".join(messages)) if each[1] == found[1]), None)
    if not knows or read is None:
        return f"<think>t</think><answer>{json.dumps({'quotes': [], 'answer': 'Nobody knows.'})}</answer>"
    said = {"quotes": [{"passage": "p1", "text": read[0]}], "answer": f"It was {read[3]} fathoms deep [p1]."}
    return f"<think>t</think><answer>{json.dumps(said)}</answer>"


def search_unevenly(messages: Sequence[str]) -> str:
    """The holder makes nothing of what it finds for more than half of the questions."""
    asked = ASKED.search("\n".join(messages))
    assert asked
    return search(messages, knows=ord(asked[1][0]) % 3 == 0)


def let_candidate(work: Callable[[Sequence[str]], str]) -> Speech:
    return lambda model, messages: search_unevenly(messages) if model == BASE else work(messages)


def answer_without_search(messages: Sequence[str]) -> str:
    if "The search is over" not in messages[-1]:
        return "<think>t</think><answer>done</answer>"
    return f"<think>t</think><answer>{json.dumps({'quotes': [], 'answer': 'It was 99 fathoms deep.'})}</answer>"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a collection that has a document for each question."""
    folder = tmp_path_factory.mktemp("searched")
    (folder / "docs").mkdir()
    for number in range(ROWS):
        asked = ASKED.search(make_question(number))
        assert asked
        text = f"# {asked[1]}\n\n{asked[1]} measured {asked[2]} at {number + 3} fathoms.\n"
        (folder / "docs" / f"{number}.md").write_text(text)
    open_local(folder / "home", Collection(name="piers", kind=CorpusKind.FOLDER, path=str(folder / "docs"))).close()
    return folder / "home"


@pytest.fixture
async def server() -> AsyncIterator[AdapterServer]:
    async with serve_adapters() as serving:
        yield serving


@pytest.fixture
def task(tmp_path: Path, home: Path, server: AdapterServer) -> StepTask:
    exam = EXAM.format(home=home, states="")
    made = make_task(tmp_path, ModelRole.SEARCHER, {"exam.toml": exam}, SEARCHER_GATE, server.url)
    write_sided_set(own_set(made), "graph-queries", map(make_answered_row, range(ROWS)), notation=None)
    return made


async def test_a_searcher_that_finds_more_answers_passes(task: StepTask, server: AdapterServer) -> None:
    server.speech = let_candidate(search)
    examined, decided = await take_exam_and_gate(task)
    assert examined.figures["means"]["search_accuracy"]["after"] == 1.0
    assert examined.figures["means"]["search_accuracy"]["before"] < 0.7
    assert decided.verdict is StepVerdict.DONE, decided.detail
    calls = [score for score in read_scores(task) if score["metric"] == "cost/tool_calls"]
    assert [(score["before"], score["after"]) for score in calls] == [(1.0, 1.0)] * (ROWS - TRAINED)


async def test_a_searcher_that_answers_without_a_search_is_refused(task: StepTask, server: AdapterServer) -> None:
    server.speech = let_candidate(answer_without_search)
    _, decided = await take_exam_and_gate(task)
    assert decided.verdict is StepVerdict.REFUSED
    assert "search_accuracy (superiority): the opposite is shown" in decided.detail


async def test_an_index_in_another_state_is_refused(task: StepTask, home: Path) -> None:
    (Path(task.plan) / "exam.toml").write_text(EXAM.format(home=home, states='states = {piers = "another"}'))
    with pytest.raises(InvalidInput, match="the exam names another"):
        await take_exam_and_gate(task)
