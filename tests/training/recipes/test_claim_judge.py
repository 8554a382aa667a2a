"""The recipe of the claim judge on a tiny checkpoint: from pairs to files that the product opens."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from app.domain.errors import InvalidInput
from app.domain.query import Language
from tests.support.stack import run_rubrica
from tests.training.recipes.toy_judge import write_judge_toy
from tests.training.recipes.toy_runs import OFFLINE
from training.recipes.claim_judge.config import ClaimJudgeConfig, DataSection
from training.recipes.claim_judge.data import OPEN, OPPOSED, STATED, kind_of, label_of, load_pairs
from training.recipes.claim_judge.train import CLAIM_JUDGE
from training.recipes.config import read_config
from training.recipes.run_folder import TrainingFolder
from training.recipes.starting import train as go_on
from training.synthesis.claim_support.learning_pairs import make_headline_pairs, turn_pair
from training.synthesis.claim_support.pairs import ClaimPair, SourceText, read_pairs
from workflows.checks.grading import Evidence
from workflows.judging.pair_encoder import EncodedPair, open_session
from workflows.judging.pair_reader import HEAD, PairReader


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_judge_toy(tmp_path)
    return tmp_path


def test_classes_come_from_the_kind_of_change() -> None:
    def make(kind: str, right: bool) -> int:
        return label_of(ClaimPair("T", ("E.",), "C.", kind, right))

    assert make("synonyms", True) == STATED
    assert (
        make("negation_added", False) == make("negation_added/turned", False) == make("headline/negation_added", False) == OPPOSED
    )
    assert make("false_detail", False) == make("elsewhere", False) == OPEN
    assert kind_of(ClaimPair("T", ("E.",), "C.", "headline", True)) == "headline"


def test_a_turned_pair_has_the_falsehood_in_its_evidence() -> None:
    pair = ClaimPair("T", ("It opened in March.", "It is large."), "It opened in May.", "changed_month", False)
    turned = turn_pair(pair)
    assert turned.evidence == ("It opened in May.", "It is large.")
    assert (turned.claim, turned.right) == ("It opened in March.", False)
    assert turn_pair(ClaimPair("T", ("Some mills closed.",), "All mills closed.", "some_to_all", False)).right


def test_headlines_are_claims_with_the_closest_sentences() -> None:
    body = ("It rained.", "Officials said exports of grain increased sharply.", "Nobody was surprised.", "More will follow.")
    document = SourceText("Grain exports increased sharply this year", body, "d", Language.ENGLISH)
    pairs = list(make_headline_pairs([document], seed=0))
    assert (pairs[0].kind, pairs[0].right) == ("headline", True)
    assert body[1] in pairs[0].evidence
    assert any(not pair.right and label_of(pair) == OPPOSED for pair in pairs[1:])


def test_pairs_of_a_document_stay_on_one_side(folder: Path) -> None:
    split = load_pairs(DataSection(sets=[folder / "pairs.jsonl"], validation=0.3))
    learned, validated = {pair.title for pair in split.learned}, {pair.title for pair in split.validated}
    assert learned
    assert validated
    assert not learned & validated


def test_thinned_kinds_are_fewer(folder: Path) -> None:
    kinds = [pair.kind for pair in read_pairs(folder / "pairs.jsonl")]
    section = DataSection(sets=[folder / "pairs.jsonl"], thinned=("changed_month",), kept=0.001, validation=0.3)
    split = load_pairs(section)
    assert "changed_month" in kinds
    assert not [pair for pair in (*split.learned, *split.validated) if pair.kind.startswith("changed_month")]


def test_a_missing_file_is_named(folder: Path) -> None:
    with pytest.raises(InvalidInput, match=r"nowhere\.jsonl holds no pairs"):
        load_pairs(DataSection(sets=[folder / "nowhere.jsonl"]))


def test_a_check_counts_the_pairs(folder: Path) -> None:
    lines = CLAIM_JUDGE.check(read_config(folder / "config.toml", ClaimJudgeConfig)).list_lines()
    assert any(line.startswith("honest") for line in lines)


@pytest.mark.extra("trl")
def test_the_command_leaves_a_judge_that_the_product_opens_and_goes_on_where_it_was_cut_off(folder: Path) -> None:
    said: list[str] = []
    write_judge_toy(folder, run={"save_every": 2, "keep": 99})
    done = run_rubrica(
        folder / "home", "train", "claim_judge", "--config", str(folder / "config.toml"), "--out", str(folder / "run"), **OFFLINE
    )
    assert done.returncode == 0, done.stderr
    run = TrainingFolder(folder / "run")
    figures = run.read_figures()
    assert figures["pairs"] > 10
    assert figures["false_with_judge"] <= figures["false_without_judge"]
    assert PairReader(run.model).read("The dam was opened in May.", Evidence("Dams", ["The dam was opened."]))

    shutil.copytree(run.path, folder / "cut")
    shutil.rmtree(folder / "cut/model")
    for checkpoint in run.list_checkpoints()[2:]:
        shutil.rmtree(folder / "cut/checkpoints" / checkpoint.name)
    again = go_on("claim_judge", folder / "config.toml", folder / "cut", None, said.append)
    assert "goes on after step 4" in said
    assert [(each.step, each.values) for each in again.read_metrics()] == [
        (each.step, each.values) for each in run.read_metrics()
    ]
    assert (again.model / HEAD).read_bytes() == (run.model / HEAD).read_bytes()


@pytest.mark.extra("trl")
def test_the_exported_head_says_what_the_head_says(tmp_path: Path) -> None:
    import torch

    from training.recipes.claim_judge.export import export_head
    from training.recipes.claim_judge.fitting import pad_batch
    from training.recipes.claim_judge.head import JudgeHead

    folder = tmp_path
    head = JudgeHead(16, 8, 8, 0.0).eval()
    export_head(head, folder / "head.onnx")
    draw = np.random.default_rng(0)
    for claim, evidence in ((1, 1), (5, 30), (20, 3)):
        pair = EncodedPair(
            draw.integers(0, 9, claim),
            draw.integers(0, 9, evidence),
            draw.normal(size=(claim, 16)).astype(np.float32),
            draw.normal(size=(evidence, 16)).astype(np.float32),
        )
        feed = {name: value[None] for name, value in pair._asdict().items()}
        with torch.no_grad():
            expected = head(pad_batch([pair])).numpy()
        assert open_session((folder / "head.onnx").read_bytes()).run(None, feed)[0] == pytest.approx(expected, abs=0.05)
