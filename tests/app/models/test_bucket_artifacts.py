"""Artifacts behind S3's protocol, on a real store, also when it refuses, is cut off, slow, or gives back other bytes."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from app.domain.errors import InvalidInput, NotFound, SetupError, Unavailable
from app.models.artifacts.digests import digest_folder
from app.models.artifacts.folder import FolderArtifacts
from tests.support.authority import Authority
from tests.support.faulty_store import Fault, FaultyStore, running_faults
from tests.support.s3_server import SECRET, sign_in

pytestmark = pytest.mark.extra("obstore", "SeaweedFS")
pytest.importorskip("obstore")

from app.models.artifacts.bucket import PATIENCE, Bucket  # noqa: E402
from app.models.artifacts.s3 import S3Artifacts  # noqa: E402

# The least that a part of an upload may have.
PART = 5 * 2**20
ALWAYS = -1
NewStore = Callable[..., S3Artifacts]
_numbers = count(1)


@pytest.fixture
def faulty(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStore]:
    with running_faults(FaultyStore(s3_server)) as proxy:
        sign_in(proxy.address, monkeypatch)
        Bucket("s3://models").send("made", b"")
        proxy.asked = []
        yield proxy


@pytest.fixture
def address() -> str:
    return f"s3://models/test-{next(_numbers)}"


@pytest.fixture
def new_store(faulty: FaultyStore, address: str, tmp_path: Path) -> NewStore:
    def make(
        machine: str = "one", patience: timedelta = PATIENCE, most_bytes: int = 50_000_000, **limits: timedelta
    ) -> S3Artifacts:
        bucket = Bucket(address, patience=patience, part=PART, **limits)
        return S3Artifacts(bucket, FolderArtifacts(tmp_path / machine), most_bytes)

    return make


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "parts").mkdir(parents=True)
    (folder / "adapter_model.safetensors").write_bytes(os.urandom(2 * PART + 7))
    (folder / "parts" / "a.json").write_text("{}")
    (folder / "README.md").write_text("A card.")
    (folder / "empty").touch()
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_folder_comes_back_on_another_machine_and_is_sent_and_fetched_once(
    new_store: NewStore, faulty: FaultyStore, model: Path
) -> None:
    here, there = new_store("one"), new_store("two")
    digest = here.put(model)
    assert (digest, here.has(digest), there.has(digest)) == (digest_folder(model), True, True)
    assert contents(there.get(digest)) == contents(model)
    parts = faulty.count("PUT", "partNumber=")
    assert parts == 3, "a large file goes in parts"
    sent = sum(method in ("PUT", "POST") for method, _ in faulty.asked)
    assert there.put(model) == digest
    assert sum(method in ("PUT", "POST") for method, _ in faulty.asked) == sent, "nothing is sent twice"
    read = faulty.count("GET", "safetensors")
    copy = there.get(digest)
    assert faulty.count("GET", "safetensors") == read, "a copy is fetched once"
    assert all(path.stat().st_mode & 0o222 == 0 for path in copy.rglob("*") if path.is_file())


def test_what_was_changed_in_the_bucket_is_found_when_it_is_read_and_replaced(
    new_store: NewStore, address: str, model: Path, tmp_path: Path
) -> None:
    store = new_store()
    digest = store.put(model)
    for key in (f"{digest}/README.md", f"{digest}.sha256"):
        Bucket(address).send(key, b"Another card.")
        with pytest.raises(SetupError, match="damaged"):
            new_store("two").get(digest)
        assert not (tmp_path / "two" / digest).exists()
        assert store.put(model) == digest
    Bucket(address).delete([f"{digest}/README.md"])
    with pytest.raises(SetupError, match="damaged"):
        new_store("two").get(digest)
    store.put(model)
    assert contents(new_store("two").get(digest)) == contents(model)


def test_a_copy_that_was_changed_is_fetched_again(new_store: NewStore, model: Path) -> None:
    store = new_store()
    digest = store.put(model)
    victim = store.get(digest) / "README.md"
    victim.chmod(0o644)
    victim.write_text("Another card.")
    assert contents(store.get(digest)) == contents(model)


@pytest.mark.parametrize("fault", [{"status": 503}, {"cut": True}])
def test_a_store_that_stumbles_is_asked_again(
    new_store: NewStore, faulty: FaultyStore, model: Path, fault: dict[str, bool]
) -> None:
    store = new_store()
    faulty.faults = [Fault("PUT", "partNumber=2", 2, **fault), Fault("PUT", "README", **fault), Fault("GET", "README", **fault)]
    digest = store.put(model)
    faulty.faults = [Fault("GET", "safetensors", 2, **fault)]
    assert contents(new_store("two").get(digest)) == contents(model)
    assert all(each.times == 0 for each in faulty.faults)


@pytest.mark.parametrize("fault", [{"status": 503}, {"cut": True}])
def test_an_upload_that_breaks_off_leaves_nothing_that_is_taken_for_whole_and_goes_on(
    new_store: NewStore, faulty: FaultyStore, model: Path, fault: dict[str, bool]
) -> None:
    hasty, store, digest = new_store(patience=timedelta(milliseconds=300)), new_store(), digest_folder(model)
    for place in ("partNumber=2", "parts/a.json", ".sha256"):
        faulty.faults = [Fault("PUT", place, ALWAYS, **fault)]
        with pytest.raises(Unavailable, match="cannot do this now"):
            hasty.put(model)
        assert not store.has(digest)
        with pytest.raises(NotFound):
            store.get(digest)
    faulty.faults, faulty.asked = [], []
    assert store.put(model) == digest
    assert contents(store.get(digest)) == contents(model)
    assert (faulty.count("PUT", "safetensors"), faulty.count("PUT", ".sha256")) == (0, 1), "what had arrived is not sent again"


def test_a_process_that_is_killed_while_it_sends_leaves_nothing_that_is_taken_for_whole(
    new_store: NewStore, faulty: FaultyStore, address: str, model: Path, tmp_path: Path
) -> None:
    held = threading.Event()
    faulty.faults = [Fault("PUT", "partNumber=2", ALWAYS, until=held)]
    code = (
        "import sys, pathlib; from app.models.artifacts.opening import open_artifacts; "
        "open_artifacts(pathlib.Path(sys.argv[1]), sys.argv[2]).put(pathlib.Path(sys.argv[3]))"
    )
    large = tmp_path / "large"
    large.mkdir()
    (large / "adapter_model.safetensors").write_bytes(os.urandom(33 * 2**20))
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "three"), address, str(large)])
    while not faulty.count("PUT", "partNumber=2"):
        assert child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    held.set()
    faulty.faults = []
    store, digest = new_store(), digest_folder(large)
    assert not store.has(digest)
    assert store.put(large) == digest
    assert contents(store.get(digest)) == contents(large)


def test_bytes_that_were_damaged_on_the_way_are_noticed(
    new_store: NewStore, faulty: FaultyStore, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = digest_folder(model)
    monkeypatch.setenv("AWS_UNSIGNED_PAYLOAD", "true")
    unsigned = new_store()  # the store itself does not notice then
    for method, place in (("GET", "README"), ("PUT", "a.json")):
        faulty.faults = [Fault(method, place, ALWAYS, damage=True)]
        with pytest.raises(SetupError, match="another file"):
            unsigned.put(model)
        assert not unsigned.has(digest)
    faulty.faults = []
    unsigned.put(model)
    faulty.faults = [Fault("GET", "safetensors", damage=True)]
    with pytest.raises(SetupError, match="damaged"):
        new_store("two").get(digest)
    assert contents(new_store("two").get(digest)) == contents(model)


def test_a_store_that_falls_silent_is_asked_again(new_store: NewStore, faulty: FaultyStore, model: Path) -> None:
    store, digest = new_store(longest_request=timedelta(seconds=2)), digest_folder(model)
    held = threading.Event()
    faulty.faults = [Fault("PUT", "README", until=held), Fault("GET", f"{digest}.sha256", until=held)]
    store.put(model)
    assert contents(store.get(digest)) == contents(model)
    assert all(each.times == 0 for each in faulty.faults)
    held.set()


def test_a_store_that_refuses_says_what_to_look_at(
    new_store: NewStore, faulty: FaultyStore, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty.faults = [Fault("PUT", "README", ALWAYS, status=403)]
    with pytest.raises(SetupError, match=r"credentials.*403"):
        new_store().put(model)
    faulty.faults = []
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    store = new_store()
    for refused in (
        lambda: store.put(model),
        lambda: store.get("0" * 64),
        lambda: store.has("0" * 64),
        lambda: store.delete("0" * 64),
    ):
        with pytest.raises(SetupError, match="credentials"):
            refused()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with pytest.raises(SetupError, match="NoSuchBucket"):
        S3Artifacts(Bucket("s3://nobody/here"), FolderArtifacts(model.parent / "none")).put(model)


def test_a_store_that_is_away_is_told_of(new_store: NewStore, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    store = new_store(patience=timedelta(milliseconds=300))
    with pytest.raises(Unavailable, match="cannot do this now"):
        store.put(model)
    with pytest.raises(Unavailable):
        store.has("0" * 64)


def test_tls_is_used_unless_it_is_turned_off_and_the_certificate_is_looked_at(
    s3_server: str, faulty: FaultyStore, new_store: NewStore, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ALLOW_HTTP")
    with pytest.raises(SetupError, match="AWS_ALLOW_HTTP"):
        new_store()
    monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
    with running_faults(FaultyStore(s3_server), tls=Authority().written(tmp_path)) as secure:
        monkeypatch.setenv("AWS_ENDPOINT_URL", secure.address)
        with pytest.raises(Unavailable):
            new_store(patience=timedelta(milliseconds=300)).put(model)
        assert secure.asked == []
        monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "ca.pem"))
        store = new_store()
        assert contents(store.get(store.put(model))) == contents(model)
    assert faulty.asked == []
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "none.pem"))
    with pytest.raises(SetupError, match="AWS_CA_BUNDLE"):
        new_store()


def test_many_that_put_the_same_at_once_keep_it_once(new_store: NewStore, model: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(new_store().put(model))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), len(set(found))) == (4, 1)
    assert contents(new_store("two").get(found[0])) == contents(model)


def test_what_is_deleted_is_gone_with_the_copies(new_store: NewStore, address: str, model: Path, tmp_path: Path) -> None:
    here, there, other = new_store("one"), new_store("two"), tmp_path / "other"
    digest = here.put(model)
    there.get(digest)
    other.mkdir()
    (other / "README.md").write_text("Another model.")
    kept = here.put(other)
    here.delete(digest)
    here.delete(digest)
    with pytest.raises(NotFound):
        here.get(digest)
    there.get(kept)
    assert [each.name for each in (tmp_path / "two").iterdir()] == [kept], "its copy went with it"
    assert {key.partition("/")[0].removesuffix(".sha256") for key in Bucket(address).list_times()} == {kept}
    for odd in ("../secret", "", "AB" * 32):
        with pytest.raises(InvalidInput):
            here.get(odd)


def test_a_deletion_that_breaks_off_can_be_made_again(
    new_store: NewStore, faulty: FaultyStore, address: str, model: Path
) -> None:
    store = new_store(patience=timedelta(milliseconds=300))
    digest = store.put(model)
    for passing in (0, 1):
        faulty.faults = [Fault("POST", "delete", ALWAYS, status=503, after=passing)]
        with pytest.raises(Unavailable):
            store.delete(digest)
        assert store.has(digest), "who deletes what is there finds it again"
    faulty.faults = []
    store.delete(digest)
    assert Bucket(address).list_times() == {}


def test_what_a_dead_process_left_is_deleted_after_some_days(
    new_store: NewStore, address: str, model: Path, tmp_path: Path
) -> None:
    bucket, left = Bucket(address), "0" * 64
    for key in (f"{left}/README.md", "of-another/README.md", f"{digest_folder(model)}/README.md"):
        bucket.send(key, b"A card.")
    new_store().put(model)
    assert f"{left}/README.md" in bucket.list_times(), "it may still be written"
    S3Artifacts(bucket, FolderArtifacts(tmp_path / "one"), left_after=timedelta(days=-1)).put(model)
    assert {key.partition("/")[0] for key in bucket.list_times()} == {
        digest_folder(model),
        f"{digest_folder(model)}.sha256",
        "of-another",
    }


def test_odd_and_too_large_folders_are_refused_before_anything_is_sent(
    new_store: NewStore, faulty: FaultyStore, model: Path
) -> None:
    with pytest.raises(InvalidInput, match="larger than"):
        new_store(most_bytes=1_000).put(model)
    (model / "link").symlink_to(model / "README.md")
    with pytest.raises(InvalidInput, match="link"):
        new_store().put(model)
    assert not any(method in ("PUT", "POST") for method, _ in faulty.asked)
