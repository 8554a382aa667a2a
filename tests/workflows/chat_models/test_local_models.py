"""The files of models for one's own machine: found by hash, downloaded whole, or said to be missing and where to put them."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from app.domain.errors import SetupError
from retrieval.encoding.weight_files import WeightFile, download
from tests.support.hub_stub import HubStub, running_hub
from workflows.chat_models.local_models import LocalModel, fetch_model, read_model_catalogue

CONTENT = bytes(range(256)) * 40
PART = "tiny.gguf.part"


def describe(content: bytes = CONTENT, hub: str = "http://127.0.0.1:1") -> LocalModel:
    file = WeightFile(name="tiny.gguf", path="deep/tiny.gguf", bytes=len(CONTENT), sha256=(hashlib.sha256(content).hexdigest(),))
    return LocalModel(title="Tiny", licence="MIT", hub=hub, file=file, context=512, memory_mb=1, token_bytes=1, minutes=(1, 2))


@contextmanager
def hub_of(content: bytes = CONTENT, **faults: object) -> Iterator[HubStub]:
    with running_hub(HubStub(content, **faults)) as hub:  # type: ignore[arg-type]
        yield hub


def test_a_file_in_the_models_folder_is_used_and_nothing_is_asked_for(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "tiny.gguf").write_bytes(CONTENT)
    assert fetch_model(describe(), given, tmp_path / "cache") == given / "tiny.gguf"


def test_a_download_is_verified_and_told(tmp_path: Path) -> None:
    told: list[int] = []
    with hub_of() as hub:
        path = fetch_model(describe(hub=hub.address), None, tmp_path, told.append)
    assert path.read_bytes() == CONTENT
    assert told[-1] == len(CONTENT)
    assert not (tmp_path / PART).exists()


def test_a_damaged_file_in_the_models_folder_is_not_used(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "tiny.gguf").write_bytes(CONTENT[:-1] + b"x")
    with hub_of() as hub:
        assert fetch_model(describe(hub=hub.address), given, tmp_path / "cache").read_bytes() == CONTENT


def test_a_hub_that_breaks_off_is_asked_for_the_rest(tmp_path: Path) -> None:
    with hub_of(cut_after=3_000) as hub:
        assert fetch_model(describe(hub=hub.address), None, tmp_path).read_bytes() == CONTENT
    assert hub.asked == [None, "bytes=3000-", "bytes=6000-", "bytes=9000-"]


def test_a_later_call_goes_on_where_the_hub_went_away(tmp_path: Path) -> None:
    (tmp_path / PART).write_bytes(CONTENT[:5_000])
    with hub_of() as hub:
        assert fetch_model(describe(hub=hub.address), None, tmp_path).read_bytes() == CONTENT
    assert hub.asked == ["bytes=5000-"]


def test_a_hub_without_ranges_sends_the_whole_again(tmp_path: Path) -> None:
    (tmp_path / PART).write_bytes(CONTENT[:5_000])
    with hub_of(ranges=False) as hub:
        assert fetch_model(describe(hub=hub.address), None, tmp_path).read_bytes() == CONTENT


def test_other_bytes_than_promised_are_refused_and_not_kept(tmp_path: Path) -> None:
    with hub_of(b"x" * len(CONTENT)) as hub, pytest.raises(SetupError, match="SHA-256 differs"):
        fetch_model(describe(hub=hub.address), None, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f".lock-{describe().file.name}"]


def test_a_hub_that_falls_silent_is_given_up_and_what_came_is_kept(tmp_path: Path) -> None:
    file, target = describe().file, tmp_path / "tiny.gguf"
    with hub_of(pause_s=3.0) as hub, pytest.raises(OSError, match="timed out"):
        download(f"{hub.address}/x", file, target, silence=timedelta(milliseconds=300))
    kept = (tmp_path / PART).read_bytes() if (tmp_path / PART).exists() else b""
    assert CONTENT.startswith(kept)
    assert not target.exists()


@pytest.mark.parametrize("status", [404, 416, 503])
def test_a_refusal_says_which_file_to_put_where(tmp_path: Path, status: int) -> None:
    with hub_of(status=status) as hub, pytest.raises(SetupError) as refusal:
        fetch_model(model := describe(hub=hub.address), tmp_path / "given", tmp_path / "cache")
    for said in (str(status), "tiny.gguf", model.file.sha256[0], model.url, str(tmp_path / "given")):
        assert said in str(refusal.value)


def test_no_network_says_which_file_to_put_where(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="Connection refused") as refusal:
        fetch_model(describe(), None, tmp_path)
    assert f"put tiny.gguf (SHA-256 {describe().file.sha256[0]})" in str(refusal.value)
    assert str(refusal.value).endswith(str(tmp_path))


def test_the_catalogue_names_files_by_hash_and_fits_short_prompts() -> None:
    for model in read_model_catalogue().values():
        assert len(model.file.sha256[0]) == 64
        assert model.memory_mb * 10**6 > model.file.bytes
        assert model.url.startswith("https://")
        assert model.minutes[0] < model.minutes[1]
