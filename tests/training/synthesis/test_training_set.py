"""A training set: made once, however often it is cut off; without texts of public sets; opened by `datasets` as it is."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from random import Random

import orjson
import pytest

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, ChatRole, Completion, Message
from app.domain.errors import Conflict, InvalidInput, ModelUnusable
from app.domain.query import Language
from tests.training.synthesis.recorded_run_folders import write_run
from training.decontamination.known_texts import KnownTexts
from training.synthesis.input_digests import digest_inputs
from training.synthesis.set_request import SetRequest
from training.synthesis.training_set.make_set import make_set
from training.synthesis.training_set.manifest import SetOrigin, TrainingSetManifest
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from workflows.agents.ports import Record
from workflows.chat_models.scripted import ScriptedModel

ORIGIN = SetOrigin(kind="riddles", wanted=30, seed=1, code="abc", today=date(2026, 1, 2))


@dataclass(frozen=True)
class Riddle:
    """A candidate. Every fifth is refused."""

    number: int

    @property
    def id(self) -> str:
        return f"riddle-{self.number}"


@dataclass
class Workshop:
    """A recipe that asks its model twice for each candidate; the model may go away after some answers."""

    answers_left: int = 1_000_000
    answered: list[str] = field(default_factory=list)
    cancelled: int | None = None

    def recipe(self) -> SetRecipe[Riddle]:
        return SetRecipe((Riddle(n) for n in self._count()), self.make_row, lambda worked: {"worked": float(len(worked))})

    def _count(self) -> Iterator[int]:
        yield from range(1_000)

    async def make_row(self, riddle: Riddle, record: Record) -> KeptRow | RefusedCandidate:
        if riddle.number == self.cancelled:
            raise asyncio.CancelledError
        said = ""
        for step in ("write", "check"):
            message = Message(role=ChatRole.USER, content=f"{step} {riddle.number} {said}")
            said = (await record.ask(riddle.id, step, self.model(riddle), ChatRequest(messages=(message,), max_tokens=9))).text
        if riddle.number % 5 == 4:
            return RefusedCandidate(stage="check", reason="too easy", data={"said": said})
        return KeptRow(
            query=f"alpha{riddle.number} beta{riddle.number} gamma{riddle.number}",
            topic="odd" if riddle.number % 2 else "even",
            language=Language.ENGLISH,
            documents=(f"d{riddle.number}",),
            data={"said": said},
            counts={"number": riddle.number},
        )

    def model(self, riddle: Riddle) -> ScriptedModel:
        def answer(request: ChatRequest) -> Completion:
            if self.answers_left == 0:
                raise ModelUnusable("the key is refused")
            self.answers_left -= 1
            self.answered.append(request.messages[0].content)
            return Completion(text=f"<{request.messages[0].content}>", model="m", usage=Usage(model_calls=1, cost_microusd=1_000))

        return ScriptedModel(answer)


def make(workshop: Workshop, path: Path, origin: SetOrigin = ORIGIN, at_once: int = 4) -> TrainingSetManifest:
    public = KnownTexts()
    public.add("riddle-bench", ["alpha3 beta3 gamma3", "what has it got in its pockets"])
    return asyncio.run(make_set(workshop.recipe(), origin, path, public, at_once))


def read_files(path: Path) -> dict[str, bytes]:
    """Read the set, without what its making left."""
    found = {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}
    return {name: content for name, content in found.items() if not name.startswith("work/") and name != "lock"}


def test_cut_off_anywhere_it_goes_on_asks_nothing_twice_and_gives_the_same_bytes(tmp_path: Path) -> None:
    make(Workshop(), tmp_path / "whole", at_once=1)
    draw = Random(3)
    cut = Workshop()
    for _ in range(200):
        cut.answers_left = draw.randrange(1, 12)
        try:
            make(cut, tmp_path / "cut")
            break
        except ModelUnusable:
            continue
    else:
        pytest.fail("the set was never finished")
    assert read_files(tmp_path / "cut") == read_files(tmp_path / "whole")
    assert len(cut.answered) == len(set(cut.answered)), "nothing is asked twice"


def test_a_candidate_that_is_cancelled_costs_itself(tmp_path: Path) -> None:
    workshop = Workshop(cancelled=2)
    manifest = make(workshop, tmp_path / "set")
    assert sum(manifest.rows.values()) == 29
    assert len(workshop.answered) == len(set(workshop.answered)), "nothing is asked twice"


def test_a_set_has_what_was_wanted_and_tells_what_fell_out(tmp_path: Path) -> None:
    manifest = make(Workshop(), tmp_path / "set")
    assert sum(manifest.rows.values()) == 29, "one of thirty is in a public set"
    assert manifest.known == {"riddle-bench": 1}
    assert manifest.refused == {"check": 7, "known": 1}
    assert manifest.usage.cost_microusd == 1_000 * manifest.usage.model_calls == 2_000 * manifest.candidates
    assert manifest.figures == {"worked": 37.0}
    refused = [orjson.loads(line) for line in (tmp_path / "set/refused.jsonl").read_bytes().splitlines()]
    assert [row["id"] for row in refused[:2]] == ["riddle-3", "riddle-4"]
    assert refused[1]["reason"] == "too easy"
    row = orjson.loads((tmp_path / "set/train/rows.jsonl").read_bytes().splitlines()[0])
    assert row.keys() == {"id", "query", "topic", "language", "documents", "said"}
    page = (tmp_path / "set/report.html").read_text()
    assert "29 rows of 37 candidates" in page
    assert "US$ for 9,000 rows" in page


def test_a_folder_goes_on_with_its_own_set_only(tmp_path: Path) -> None:
    make(Workshop(), tmp_path / "set")
    with pytest.raises(Conflict, match="another seed"):
        make(Workshop(), tmp_path / "set", ORIGIN.model_copy(update={"seed": 2}))
    (tmp_path / "other").mkdir()
    (tmp_path / "other/letter.txt").write_text("dear")
    with pytest.raises(InvalidInput, match="something else"):
        make(Workshop(), tmp_path / "other")


def test_a_set_that_grows_asks_only_what_is_new_and_has_the_bytes_of_one_made_at_once(tmp_path: Path) -> None:
    larger = ORIGIN.model_copy(update={"wanted": 50, "most_candidates": 900})
    grown = Workshop()
    make(Workshop(), tmp_path / "whole", larger)
    make(grown, tmp_path / "grown", ORIGIN.model_copy(update={"most_candidates": 800}))
    make(grown, tmp_path / "grown", larger)
    assert read_files(tmp_path / "grown") == read_files(tmp_path / "whole")
    assert len(grown.answered) == len(set(grown.answered)), "nothing is asked twice"
    with pytest.raises(Conflict, match="larger, not smaller"):
        make(Workshop(), tmp_path / "grown", ORIGIN)


def test_a_set_does_not_go_on_with_inputs_that_have_changed(tmp_path: Path) -> None:
    begun, changed = (ORIGIN.model_copy(update={"files": {"input runs/one": digest}}) for digest in ("aa", "bb"))
    make(Workshop(), tmp_path / "set", begun)
    with pytest.raises(Conflict, match="the input runs/one has changed since this set was begun"):
        make(Workshop(), tmp_path / "set", changed)


def test_the_digest_of_an_input_changes_with_its_rows_and_not_with_its_report(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", "m", "react", None, {"How deep is it?": "Deep."})
    public = tmp_path / "public.jsonl"
    public.write_text('{"question": "Who?"}\n')
    request = SetRequest("trajectories", tmp_path / "set", 1, inputs=(run,), options={"hard": str(public)})
    before = digest_inputs(request, [f"own={public}"])
    assert before.keys() == {f"input {run}", "option hard", "public set own"}
    (run / "report.html").write_text("looked at again")
    assert digest_inputs(request, [f"own={public}"]) == before
    public.write_text('{"question": "Whom?"}\n')
    (run / "answers.jsonl").write_text("")
    after = digest_inputs(request, [f"own={public}"])
    assert all(after[name] != digest for name, digest in before.items())


def test_the_measure_of_near_duplicates_is_told(tmp_path: Path) -> None:
    assert make(Workshop(), tmp_path / "set").near_duplicates_by == "words"
    assert "near-duplicates are found by" in (tmp_path / "set/report.html").read_text()


def test_a_finished_set_is_made_again_without_a_model(tmp_path: Path) -> None:
    make(Workshop(), tmp_path / "set")
    before = read_files(tmp_path / "set")
    away = Workshop(answers_left=0)
    make(away, tmp_path / "set")
    assert read_files(tmp_path / "set") == before


@pytest.mark.extra("trl")
def test_datasets_opens_the_folder_as_it_is(tmp_path: Path) -> None:
    import datasets

    manifest = make(Workshop(), tmp_path / "set")
    opened = datasets.load_dataset(str(tmp_path / "set"), cache_dir=str(tmp_path / "cache"))
    assert {split: len(opened[split]) for split in opened} == {split: n for split, n in manifest.rows.items() if n}
