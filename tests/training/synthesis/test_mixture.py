"""Mixtures: shares hold for the finished set, the scarcest class decides its size, and what has no room costs nothing."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from math import ceil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.budget import Usage
from app.domain.chat import ChatRequest, ChatRole, Completion, Message
from app.domain.errors import ModelUnusable
from app.domain.query import Language
from training.decontamination.known_texts import KnownTexts
from training.synthesis.training_set.make_set import make_set
from training.synthesis.training_set.manifest import SetOrigin, TrainingSetManifest
from training.synthesis.training_set.mixture import Mixing, Mixture
from training.synthesis.training_set.outcome import KeptRow, RefusedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from training.synthesis.trajectories.set_recipe import MIXTURES
from workflows.agents.ports import Record
from workflows.chat_models.scripted import ScriptedModel

SHARES = {"made": 0.65, "mined": 0.35}


def mix(classes: Mapping[str, Mapping[str, str]], *mixtures: Mixture, wanted: int) -> tuple[Mixing, list[str]]:
    """Return the mixing, and the rows that stay."""
    mixing = Mixing(mixtures, classes, wanted, seed=1)
    crowded = mixing.find_crowded(classes)
    return mixing, [name for name in classes if name not in crowded]


def supply(**counts: int) -> dict[str, dict[str, str]]:
    """So many rows of each class of the mixture `origin`."""
    return {f"{name}{n}": {"origin": name} for name, count in counts.items() for n in range(count)}


def test_all_shares_of_the_paper_hold_at_once_though_only_graph_questions_have_a_difficulty() -> None:
    classes = {
        str(n): {
            "source": ("graph", "product", "hard")[n % 3],
            "difficulty": ("easy", "medium", "hard")[n // 3 % 3] if n % 3 == 0 else "",
            "complexity": "simple" if n % 2 else "complex",
            "pattern": ("sequential", "parallel", "hierarchical")[n // 9 % 3],
        }
        for n in range(300)
    }
    mixing, staying = mix(classes, *MIXTURES, wanted=100)
    shares = mixing.count_shares(staying)
    assert {name: share.rows for name, share in shares["source"].items()} == {"graph": 60, "product": 35, "hard": 5}
    assert {name: share.rows for name, share in shares["difficulty"].items()} == {"easy": 24, "medium": 21, "hard": 15}
    assert shares["complexity"]["complex"].rows == 65
    assert {share.rows for share in shares["pattern"].values()} == {33, 34}


@pytest.mark.parametrize("wanted", [100, 1_000])
def test_the_scarcest_class_decides_how_large_the_set_is_whatever_was_wanted(wanted: int) -> None:
    classes = supply(made=90, mined=10)
    mixing, staying = mix(classes, Mixture("origin", SHARES), wanted=wanted)
    rows = {name: share.rows for name, share in mixing.count_shares(staying)["origin"].items()}
    assert rows["mined"] == 10
    assert rows["made"] == 21, "one more than its share of the other rows allows exactly"
    notices = mixing.list_notices(classes, classes.keys() - set(staying))
    assert notices == ["the set has no more rows, so that shares hold: scarce is the origin 'mined' (10 rows)"]


def test_a_class_without_rows_gives_its_share_to_the_others_and_this_is_told() -> None:
    classes = supply(made=5)
    mixing, staying = mix(classes, Mixture("origin", SHARES), wanted=10)
    assert len(staying) == 5
    assert mixing.list_notices(classes, ()) == ["no row has the origin 'mined' (35%): the others divide its share"]


def test_a_class_without_a_share_has_no_room_and_a_row_without_a_class_is_not_counted() -> None:
    classes = supply(made=4, stolen=3) | {"free": {"origin": ""}}
    mixing, staying = mix(classes, Mixture("origin", {"made": 1.0}), wanted=10)
    assert set(staying) == {"made0", "made1", "made2", "made3", "free"}
    assert mixing.find_crowded(classes)["stolen0"] == "origin 'stolen' has no share"


KINDS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "x", "y"])), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(KINDS, st.integers(1, 40))
def test_no_class_exceeds_its_share_of_the_finished_set_by_a_whole_row(drawn: list[tuple[str, str]], wanted: int) -> None:
    mixtures = (Mixture("one", {"a": 0.5, "b": 0.3, "c": 0.2}), Mixture("two", {"x": 0.75, "y": 0.25}))
    classes = {str(n): {"one": one, "two": two} for n, (one, two) in enumerate(drawn)}
    staying = mix(classes, *mixtures, wanted=wanted)[1]
    assert len(staying) <= wanted
    for mixture in mixtures:
        counts = Counter(classes[name][mixture.name] for name in staying if classes[name][mixture.name])
        there = {own[mixture.name] for own in classes.values()}
        total = sum(share for name, share in mixture.shares.items() if name in there)
        for name, count in counts.items():
            assert count <= ceil(mixture.shares[name] / total * counts.total() - 1e-9)


@dataclass(frozen=True)
class Question:
    """A candidate: every third is mined, and every fourth falls out after it has been paid for."""

    number: int

    @property
    def id(self) -> str:
        return f"question-{self.number}"

    @property
    def origin(self) -> str:
        return "made" if self.number % 3 else "mined"


@dataclass
class Maker:
    """Makes rows with one call for each candidate. The model may go away after some answers."""

    answers_left: int = 1_000_000
    answered: int = 0

    def make(self, folder: Path, at_once: int = 4) -> TrainingSetManifest:
        recipe = SetRecipe(
            tuple(map(Question, range(300))),
            self.make_row,
            mixtures=(Mixture("origin", {"made": 0.9, "mined": 0.1}),),
            classify=lambda question: {"origin": question.origin},
        )
        origin = SetOrigin(kind="questions", wanted=40, seed=1, code="c", today=date(2026, 1, 2))
        return asyncio.run(make_set(recipe, origin, folder, KnownTexts(), at_once))

    async def make_row(self, question: Question, record: Record) -> KeptRow | RefusedCandidate:
        message = Message(role=ChatRole.USER, content=question.id)
        await record.ask(question.id, "write", ScriptedModel(self.answer), ChatRequest(messages=(message,), max_tokens=9))
        if question.number % 4 == 0:
            return RefusedCandidate(stage="check", reason="too easy")
        words = f"alpha{question.number} beta{question.number}"
        return KeptRow(query=words, topic="t", language=Language.ENGLISH, documents=(words,), data={})

    def answer(self, _: ChatRequest) -> Completion:
        if self.answers_left == 0:
            raise ModelUnusable("the key is refused")
        self.answers_left -= 1
        self.answered += 1
        return Completion(text="yes", model="m", usage=Usage(model_calls=1))


def test_nothing_is_paid_for_a_candidate_whose_class_is_full(tmp_path: Path) -> None:
    maker = Maker()
    manifest = maker.make(tmp_path / "set", at_once=1)
    shares = manifest.shares["origin"]
    assert (shares["made"].rows, shares["mined"].rows) == (36, 4)
    assert manifest.candidates < 60, "forty rows, and a quarter of what was asked falls out"
    assert maker.answered <= manifest.candidates + 2, "the next ones begin before the last has ended"


def test_the_bytes_do_not_depend_on_what_was_under_way_when_a_class_became_full(tmp_path: Path) -> None:
    Maker().make(tmp_path / "one", at_once=1)
    cut = Maker(answers_left=25)
    with pytest.raises(ModelUnusable):
        cut.make(tmp_path / "many", at_once=8)
    cut.answers_left = 1_000
    cut.make(tmp_path / "many", at_once=8)
    for name in ("manifest.json", "refused.jsonl", "train/rows.jsonl", "report.html"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "many" / name).read_bytes(), name
