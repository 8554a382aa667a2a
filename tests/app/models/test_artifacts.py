"""Artifacts: a folder comes back as it was put in, once, whatever happens meanwhile; odd folders are refused."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput, NotFound, SetupError
from app.models.artifacts.digests import MOST_FILES, digest_folder
from app.models.artifacts.folder import FolderArtifacts

ROOT = Path(__file__).resolve().parents[3]
BY_HAND = "find . -type f -printf '%P\\n' | LC_ALL=C sort | xargs sha256sum | sha256sum"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "parts").mkdir(parents=True)
    (folder / "adapter_model.safetensors").write_bytes(bytes(range(256)) * 9000)
    (folder / "parts" / "a.json").write_text("{}")
    (folder / "README.md").write_text("A card.")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> FolderArtifacts:
    return FolderArtifacts(tmp_path / "artifacts", most_bytes=4_000_000)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_folder_comes_back_as_it_was_and_is_written_once(store: FolderArtifacts, model: Path) -> None:
    digest = store.put(model)
    kept = store.get(digest)
    assert contents(kept) == contents(model)
    written = kept.stat().st_ino
    assert (store.put(model), store.get(digest).stat().st_ino, store.has(digest)) == (digest, written, True)
    assert {path.name for path in kept.parent.iterdir()} == {digest}
    assert all(path.stat().st_mode & 0o222 == 0 for path in kept.rglob("*") if path.is_file())


def test_the_digest_is_what_a_shell_computes_and_names_and_contents_decide_it(model: Path) -> None:
    by_hand = subprocess.run(BY_HAND, shell=True, cwd=model, capture_output=True, text=True, check=True).stdout.split()[0]
    assert digest_folder(model) == by_hand
    (model / "README.md").rename(model / "READ.md")
    renamed = digest_folder(model)
    (model / "READ.md").write_text("A Card.")
    assert len({by_hand, renamed, digest_folder(model)}) == 3


def test_what_was_changed_in_the_store_is_found_when_it_is_read_and_replaced(store: FolderArtifacts, model: Path) -> None:
    digest = store.put(model)
    for damage in ("README.md", "parts/a.json"):
        victim = store.get(digest) / damage
        victim.chmod(0o644)
        victim.write_text("Another card.")
        with pytest.raises(SetupError, match="damaged"):
            store.get(digest)
        assert store.put(model) == digest
        assert contents(store.get(digest)) == contents(model)


def test_links_odd_names_and_what_is_no_file_are_refused(store: FolderArtifacts, model: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not yours")
    odd = [model / name for name in ("a link", ".hidden", "no\nbreak", "-rf", "pipe", "up")]
    for path in odd:
        if path.name == "pipe":
            os.mkfifo(path)
        elif path.name == "up":
            path.symlink_to(tmp_path, target_is_directory=True)
        elif path.name == "a link":
            (model / "weights").symlink_to(secret)
            path = model / "weights"
        else:
            path.write_text("x")
        with pytest.raises(InvalidInput, match=r"odd name|a link or no file"):
            store.put(model)
        path.unlink()
    store.put(model)
    for nothing in (tmp_path / "none", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(InvalidInput):
            store.put(nothing)
    assert "not yours" not in "".join(path.read_text(errors="replace") for path in (tmp_path / "artifacts").rglob("*.json"))


def test_too_large_and_too_many_are_refused_and_leave_nothing(store: FolderArtifacts, model: Path, tmp_path: Path) -> None:
    (model / "more.bin").write_bytes(b"0" * 2_000_000)
    with pytest.raises(InvalidInput, match="larger than"):
        store.put(model)
    assert list((tmp_path / "artifacts").iterdir()) == []
    many = tmp_path / "many"
    many.mkdir()
    for number in range(MOST_FILES + 1):
        (many / f"{number}").touch()
    with pytest.raises(InvalidInput, match="more than 10,000 files"):
        store.put(many)


def test_many_that_put_the_same_at_once_keep_it_once(store: FolderArtifacts, model: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(store.put(model))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(set(found))) == (6, 1)
    assert {path.name for path in store.get(found[0]).parent.iterdir()} == {found[0]}


def test_what_is_deleted_is_gone_and_what_a_dead_process_left_goes_too(
    store: FolderArtifacts, model: Path, tmp_path: Path
) -> None:
    digest = store.put(model)
    left, begun = [tmp_path / "artifacts" / f".part-{name}" for name in ("left", "begun")]
    for part in (left, begun):
        part.mkdir()
    old = time.time() - 2 * 86_400
    os.utime(left, (old, old))
    store.delete(digest)
    store.delete(digest)
    assert not store.has(digest)
    with pytest.raises(NotFound):
        store.get(digest)
    store.put(model)
    assert (left.exists(), begun.exists()) == (False, True)
    for odd in ("../secret", "", "AB" * 32):
        with pytest.raises(InvalidInput):
            store.get(odd)


def test_a_bucket_without_its_client_names_what_to_install(tmp_path: Path) -> None:
    opening = (
        "from app.models.artifacts.opening import open_artifacts; import pathlib; open_artifacts(pathlib.Path(), 's3://models')"
    )
    code = f"import tests.support.without_extras; {opening}"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "SetupError: RUBRICA_ARTIFACTS_URL needs obstore: `.venv/bin/pip install 'rubrica[s3]'`" in done.stderr


def test_a_store_that_cannot_be_written_says_so(model: Path, tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("in the way")
    with pytest.raises(SetupError, match="cannot be kept in"):
        FolderArtifacts(tmp_path / "artifacts").put(model)
