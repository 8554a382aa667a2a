"""The recipe of the claim judge on a tiny checkpoint: from pairs to files that the product opens."""

import json
from pathlib import Path

import numpy as np
import pytest

from app.domain.errors import InvalidInput
from app.domain.query import Language
from tests.support.stack import run_rubrica
from tests.training.recipes.toy_runs import OFFLINE
from training.recipes.claim_judge.config import ClaimJudgeConfig, DataSection
from training.recipes.claim_judge.data import OPEN, OPPOSED, STATED, kind_of, label_of, load_pairs
from training.recipes.claim_judge.train import CLAIM_JUDGE
from training.recipes.config import read_config
from training.recipes.run_folder import TrainingFolder
from training.synthesis.claim_support.generate import read_source
from training.synthesis.claim_support.learning_pairs import make_headline_pairs, make_learning_pairs, turn_pair
from training.synthesis.claim_support.pairs import ClaimPair, SourceText, read_pairs, write_pairs
from workflows.checks.grading import Evidence
from workflows.judging.pair_encoder import EncodedPair, open_session
from workflows.judging.pair_reader import PairReader

WORDS = ("the", "dam", "was", "opened", "in", "by", "because", "of", "floods", "river", "exports", "from", "tons", "first")
TEXT = (
    "In 1890, John Smith was the first governor of the province, and he may have written most of its laws in Boston. "
    "The second dam (built of stone) was opened in March 1904 by Mary Jones because of floods along the river. "
    "Exports increased from 2,300 tons to 45 percent more, which surprised all of the merchants in the town. "
    "Some of the mills were not closed before the war ended. "
)
TEXTS = [piece for n in range(60) for piece in read_source(f"Place {n}", TEXT.replace("Boston", f"Boston{n}"), str(n))]
NEEDED = "training needs what `make setup-train` installs"
CONFIG = """
[model]
base = "tiny"
[data]
sets = ["pairs.jsonl"]
validation = 0.3
[encoder]
layers = 1
vocabulary = 400
[head]
size = 8
width = 8
[optimizer]
learning_rate = 0.001
epochs = 1
batch_size = 8
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pairs(make_learning_pairs(TEXTS, each=6, seed=0), tmp_path / "pairs.jsonl")
    (tmp_path / "config.toml").write_text(CONFIG)
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


def test_the_command_leaves_a_judge_that_the_product_opens(folder: Path) -> None:
    for name in ("torch", "trl", "peft"):
        pytest.importorskip(name, reason=NEEDED)
    write_tiny_checkpoint(folder / "tiny")
    done = run_rubrica(
        folder / "home", "train", "claim_judge", "--config", str(folder / "config.toml"), "--out", str(folder / "run"), **OFFLINE
    )
    assert done.returncode == 0, done.stderr
    run = TrainingFolder(folder / "run")
    figures = run.read_figures()
    assert figures["pairs"] > 10
    assert figures["false_by_both"] <= figures["false_by_rules"]
    assert PairReader(run.model).read("The dam was opened in May.", Evidence("Dams", ["The dam was opened."]))


def test_the_exported_head_says_what_the_head_says(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason=NEEDED)
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


def write_tiny_checkpoint(folder: Path) -> None:
    """Write a BERT of one layer with random weights, and a tokenizer with a few words and all letters."""
    from safetensors.numpy import save_file
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    folder.mkdir()
    letters = [chr(c) for c in range(33, 127) if not chr(c).isupper()]
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters), *WORDS]
    numbers = {token: place for place, token in enumerate(dict.fromkeys(vocabulary))}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"num_attention_heads": 2, "layer_norm_eps": 1e-12}))
    draw, size, inner = np.random.default_rng(0), 16, 32
    shapes = {"embeddings.word_embeddings": (len(numbers), size), "embeddings.position_embeddings": (128, size)}
    shapes |= {"embeddings.token_type_embeddings": (2, size)}
    layer = "encoder.layer.0"
    linear = {f"{layer}.attention.self.{part}": (size, size) for part in ("query", "key", "value")}
    linear |= {f"{layer}.attention.output.dense": (size, size)}
    linear |= {f"{layer}.intermediate.dense": (inner, size), f"{layer}.output.dense": (size, inner)}
    tensors = {f"{name}.weight": draw.normal(scale=0.2, size=shape) for name, shape in {**shapes, **linear}.items()}
    tensors |= {f"{name}.bias": np.zeros(shape[0]) for name, shape in linear.items()}
    for norm in ("embeddings.LayerNorm", f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"):
        tensors |= {f"{norm}.weight": np.ones(size), f"{norm}.bias": np.zeros(size)}
    save_file({name: tensor.astype(np.float32) for name, tensor in tensors.items()}, folder / "model.safetensors")
