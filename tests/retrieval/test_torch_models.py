"""What runs on torch, through sentence-transformers: an encoder, a reranker and a judge of inference, of tiny random weights."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from app.domain.errors import ToolError
from retrieval.encoding.encoder import SentenceTransformersEncoder
from retrieval.encoding.nli import CrossEncoderNli
from retrieval.search.reranker import CrossEncoderReranker

pytestmark = [
    pytest.mark.slow,
    pytest.mark.extra("sentence-transformers"),
]
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "wool", "sheep", "canal"]
# Weights drawn from a narrow range score all pairs nearly alike.
SHAPE = {
    "vocab_size": len(WORDS),
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "initializer_range": 0.5,
}


def save_classifier(folder: Path, labels: Mapping[int, str]) -> str:
    """Write a model that gives a pair of texts one number for each label; its folder."""
    from torch import manual_seed
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    manual_seed(7)
    BertTokenizerFast(vocab={word: number for number, word in enumerate(WORDS)}).save_pretrained(folder)
    BertForSequenceClassification(BertConfig(id2label=dict(labels), **SHAPE)).save_pretrained(folder)
    return str(folder)


def test_a_cross_encoder_scores_each_text(tmp_path: Path) -> None:
    judge = CrossEncoderReranker(save_classifier(tmp_path, {0: "relevance"}))
    scores = judge.score("wool", ["sheep", "canal", "sheep"])
    assert len(scores) == 3
    assert scores[0] == pytest.approx(scores[2])
    assert scores[0] != pytest.approx(scores[1])


def test_a_model_of_inference_gives_probabilities_by_the_names_of_its_labels(tmp_path: Path) -> None:
    orders = ({0: "entailment", 1: "neutral", 2: "contradiction"}, {0: "CONTRADICTION", 1: "ENTAILMENT", 2: "NEUTRAL"})
    pairs = [("wool", "sheep"), ("canal", "wool")]
    for number, labels in enumerate(orders):
        found = CrossEncoderNli(save_classifier(tmp_path / str(number), labels))(pairs)
        assert len(found) == len(pairs)
        assert all(0 < entailed < 1 and 0 < contradicted < 1 and entailed + contradicted < 1 for entailed, contradicted in found)
    with pytest.raises(ToolError, match="one of inference has entailment and contradiction"):
        CrossEncoderNli(save_classifier(tmp_path / "other", {0: "spam", 1: "no spam"}))(pairs)


def test_a_model_that_is_not_there_is_a_tool_error(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ToolError, match="cannot be loaded"):
        CrossEncoderNli(str(tmp_path / "empty"))([("wool", "sheep")])


def test_an_encoder_gives_each_text_a_vector_of_unit_length(tmp_path: Path) -> None:
    from torch import manual_seed
    from transformers import BertConfig, BertModel, BertTokenizerFast

    manual_seed(7)
    BertTokenizerFast(vocab={word: number for number, word in enumerate(WORDS)}).save_pretrained(tmp_path)
    BertModel(BertConfig(**SHAPE)).save_pretrained(tmp_path)
    encoder = SentenceTransformersEncoder(str(tmp_path))
    vectors = encoder.encode_passages(["wool", "canal sheep " * 400, "wool"])
    assert (encoder.name, encoder.size, vectors.shape) == (tmp_path.name, 16, (3, 16))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert np.allclose(encoder.encode_query("wool"), vectors[2], atol=1e-5)
    assert not np.allclose(vectors[0], vectors[1], atol=1e-3)
