"""The folder of local state says what is wrong with it."""

import os
import stat
from pathlib import Path

import pytest

from app.domain.errors import SetupError
from app.private_file import write_private_file
from infra.local.home import Home, make_folder, require_space
from retrieval.service.owner_lock import lock_home


def test_a_home_is_made_and_kept_out_of_version_control(tmp_path: Path) -> None:
    home = Home(tmp_path / "a" / "home")
    home.prepare()
    assert home.logs.is_dir()
    assert (home.root / ".gitignore").read_text() == "*\n"


def test_only_its_owner_may_enter_a_home_also_one_that_was_open_before(tmp_path: Path) -> None:
    for number, make in enumerate((lambda root: Home(root).prepare(), lambda root: lock_home(root)())):
        fresh, older = tmp_path / f"fresh{number}", tmp_path / f"older{number}"
        older.mkdir()
        older.chmod(0o755)
        for root in (fresh, older):
            make(root)
            assert stat.S_IMODE(root.stat().st_mode) == 0o700


def test_a_private_file_is_whole_and_its_owners_also_after_a_write_that_was_cut_short(tmp_path: Path) -> None:
    (tmp_path / "key.new").write_text("half of a longer one")
    (tmp_path / "key.new").chmod(0o600)
    write_private_file(tmp_path / "key", "secret")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("key", "secret")]
    assert stat.S_IMODE((tmp_path / "key").stat().st_mode) == 0o600


def test_a_file_in_the_place_of_the_home_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(SetupError, match="RUBRICA_HOME"):
        Home(tmp_path / "home").prepare()


def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    closed = Path("/sys") if os.geteuid() == 0 else tmp_path  # root may write into any other
    with pytest.raises(SetupError, match="RUBRICA_HOME"):
        make_folder(closed / "home")
    tmp_path.chmod(0o700)


def test_a_full_disk_is_told_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"only \d+ MB are free on the disk of .*, 1000000000 MB are needed"):
        require_space(tmp_path, 10**9)


def test_sockets_live_in_a_short_private_folder_that_outlives_a_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/dev/shm")
    deep = Home(tmp_path / ("long" * 20) / ("name" * 20))
    folder = deep.make_socket_folder()
    assert len(str(folder / "retrieval.sock").encode()) < 108
    assert not folder.is_relative_to("/dev/shm")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert deep.make_socket_folder() == folder
    assert Home(tmp_path / "other").make_socket_folder() != folder
    folder.chmod(0o755)
    with pytest.raises(SetupError, match="not a private folder"):
        deep.make_socket_folder()
    folder.rmdir()
    Home(tmp_path / "other").make_socket_folder().rmdir()
