"""`make setup` on machines that lack something: what it says, and that it starts over where it broke off."""

import fcntl
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from infra.local.ports import find_free_port
from infra.notice import compose_notice
from tests.support.stack import heed_interrupt

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "infra" / "environment.py"

# A project that pip installs without any package from a registry.
SELF_BUILT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "sample"
version = "1"
"""
BACKEND = """
import zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    name, about = "sample-1-py3-none-any.whl", "sample-1.dist-info"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\\nName: sample\\nVersion: 1\\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\\nGenerator: hand\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{about}/RECORD", "")
    return name
"""


@pytest.fixture(scope="module")
def environment() -> ModuleType:
    spec = importlib.util.spec_from_file_location("environment", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A clone with a space in its path whose lock names a package that no registry has."""
    project = tmp_path / "a clone"
    (project / "infra").mkdir(parents=True)
    shutil.copy(SCRIPT, project / "infra")
    (project / "requirements.lock").write_text(f"# made by hand\nno-such-package-anywhere==1.0 --hash=sha256:{'0' * 64}\n")
    (project / "pyproject.toml").write_text('[project]\nname = "sample"\nversion = "1"\n')
    return project


def test_a_registry_that_cannot_be_reached_is_told_and_nothing_counts_as_made(project: Path) -> None:
    unreachable = {"PIP_INDEX_URL": f"http://127.0.0.1:{find_free_port()}/simple", "PIP_RETRIES": "1"}
    command = [sys.executable, str(project / "infra" / "environment.py")]
    made = subprocess.run(command, env=os.environ | unreachable, capture_output=True, text=True, check=False)
    assert made.returncode == 1
    assert "make setup: the package registry cannot be reached; check the network" in made.stderr
    assert not (project / ".venv" / ".stamp").exists()


def test_a_file_with_another_content_than_the_lock_knows_is_not_installed(project: Path) -> None:
    wheels = project / "wheels"
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "no_such_package_anywhere-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("no_such_package_anywhere.py", "")
        about = "no_such_package_anywhere-1.0.dist-info"
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: no-such-package-anywhere\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    (project / "requirements.lock").write_text(f"no-such-package-anywhere==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": wheels.as_uri()}
    command = [sys.executable, str(project / "infra" / "environment.py")]
    made = subprocess.run(command, env=os.environ | offline, capture_output=True, text=True, check=False)
    assert made.returncode == 1
    assert "another content than the lock knows" in made.stderr


@pytest.fixture
def made(project: Path, environment: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The clone with an environment that was made from its lock. Of pip it has as much as tells that it is whole."""
    monkeypatch.chdir(project)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], check=True)
    next((project / ".venv").glob("lib/python*/site-packages")).joinpath("pip.py").touch()
    stamp = f"{environment.compute_fingerprint()}\n{os.path.realpath(sys.executable)}\n"
    (project / ".venv" / ".stamp").write_text(stamp)
    return project


def set_up(project: Path, *options: str, python: str | Path = sys.executable) -> subprocess.CompletedProcess[str]:
    """Call the script as `make setup` does, where no registry can be reached."""
    command = [str(python), str(project / "infra" / "environment.py"), *options]
    return subprocess.run(command, env=os.environ | {"PIP_NO_INDEX": "1"}, capture_output=True, text=True, check=False)


def read_whole(environment: Path) -> dict[str, str]:
    """Return what tells one environment from another: its stamp and its packages."""
    return {path.name: path.read_text() for path in (environment / ".stamp", *environment.glob("lib/python*/site-packages/*.py"))}


def test_a_made_environment_costs_nothing_and_a_new_lock_makes_it_again(made: Path) -> None:
    assert set_up(made).stdout == ""
    (made / "requirements.lock").write_text("another==1\n")
    assert "making .venv from requirements.lock" in set_up(made).stdout


def test_a_made_environment_serves_whatever_python_calls_unless_one_is_insisted_on(
    made: Path, environment: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 0))
    monkeypatch.setenv("PATH", "/absent")
    environment.setup()
    with pytest.raises(environment.Refusal, match=r"Python 3.11 or newer is needed, this is 3.9"):
        environment.setup(insists=True)
    assert set_up(made, "--this-python").stdout == ""
    stamp = made / ".venv" / ".stamp"
    stamp.write_text(stamp.read_text().splitlines()[0] + "\n/another/python\n")
    assert set_up(made).stdout == ""
    assert "making .venv from requirements.lock" in set_up(made, "--this-python").stdout


def test_an_environment_whose_python_was_taken_away_or_exchanged_is_made_again(made: Path, environment: ModuleType) -> None:
    python = made / ".venv" / "bin" / "python"
    python.rename(python.with_name("elsewhere"))
    assert not environment.is_usable()
    python.with_name("elsewhere").rename(python)
    (made / ".venv" / "lib").rename(made / ".venv" / "lib-of-another-version")
    assert "making .venv from requirements.lock" in set_up(made).stdout


def test_the_old_environment_comes_back_when_the_new_one_cannot_be_made(made: Path) -> None:
    before, lock = read_whole(made / ".venv"), (made / "requirements.lock").read_text()
    (made / "requirements.lock").write_text("another==1\n")
    failed = set_up(made)
    assert failed.returncode == 1
    assert failed.stderr.startswith("make setup: ")
    assert ".venv is as it was before" in failed.stdout
    assert read_whole(made / ".venv") == before
    (made / "requirements.lock").write_text(lock)
    assert set_up(made).stdout == ""


def test_the_old_environment_comes_back_at_ctrl_c_also_where_it_is_a_link(made: Path) -> None:
    (made / ".venv").rename(made / "elsewhere")
    (made / ".venv").symlink_to("elsewhere")
    before = read_whole(made / "elsewhere")
    (made / "requirements.lock").write_text(f"another==1 --hash=sha256:{'0' * 64}\n")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        registry = {"PIP_INDEX_URL": f"http://127.0.0.1:{silent.getsockname()[1]}/simple"}
        command = [sys.executable, str(made / "infra" / "environment.py")]
        with subprocess.Popen(
            command, env=os.environ | registry, stdout=subprocess.PIPE, text=True, preexec_fn=heed_interrupt
        ) as making:
            pip, _ = silent.accept()
            making.send_signal(signal.SIGINT)
            assert making.stdout is not None
            assert ".venv is as it was before" in making.stdout.read()
            pip.close()
    assert making.returncode == 130
    assert (made / ".venv").is_symlink()
    assert read_whole(made / ".venv") == before


def test_a_new_environment_takes_the_place_of_the_old_one_whose_own_python_made_it(made: Path) -> None:
    (made / "pyproject.toml").write_text(SELF_BUILT)
    (made / "backend.py").write_text(BACKEND)
    (made / "requirements.lock").write_text("# another lock that names nothing\n")
    done = set_up(made, python=made / ".venv" / "bin" / "python")
    assert done.returncode == 0, done.stderr
    assert not list((made / ".venv").glob("lib/python*/site-packages/pip.py"))
    assert sorted(path.name for path in made.glob(".venv*")) == [".venv", ".venv.lock"]
    assert set_up(made).stdout == ""


def test_what_a_killed_call_left_is_settled(made: Path) -> None:
    before = read_whole(made / ".venv")
    aside = made / ".venv.put-aside"
    (made / ".venv").rename(aside)
    (made / ".venv" / "lib").mkdir(parents=True)
    assert set_up(made).stdout == ".venv is as it was before\n"
    assert read_whole(made / ".venv") == before
    aside.mkdir()
    assert set_up(made).stdout == ""
    assert not aside.exists()
    assert read_whole(made / ".venv") == before


def test_a_call_waits_for_another_one_that_makes_the_environment(made: Path) -> None:
    stamp = made / ".venv" / ".stamp"
    written = stamp.read_text()
    stamp.unlink()
    with (made / ".venv.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        command = [sys.executable, "-u", str(made / "infra" / "environment.py")]
        waiting = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == "another make is making .venv; waiting for it\n"
        stamp.write_text(written)
    assert waiting.communicate()[0] == ""
    assert waiting.returncode == 0


def test_only_what_is_installed_makes_an_environment_old(made: Path, environment: ModuleType) -> None:
    project = made / "pyproject.toml"
    plain = project.read_text()
    before = environment.compute_fingerprint()
    project.write_text(plain + '\n[tool.ruff]\nline-length = 99\n\n[[tool.mypy.overrides]]\nmodule = [\n    "torch",\n]\n')
    assert environment.compute_fingerprint() == before
    for more in ('dependencies = ["another"]\n', '[tool.setuptools.packages.find]\ninclude = ["app*"]\n'):
        project.write_text(plain + more)
        assert environment.compute_fingerprint() != before


def test_what_is_missing_is_said(environment: ModuleType) -> None:
    with pytest.raises(environment.Refusal, match=r"only \d+ MB are free here, 1000000000 MB are needed"):
        environment.need_space(10**9)
    explained = {
        "ERROR: No matching distribution found for numpy==9": "no ready-made wheel of a package for this machine",
        "OSError: [Errno 28] No space left on device": "the disk is full",
        "Max retries exceeded: Connection refused\nERROR: No matching distribution": "the package registry cannot be reached",
        "something else": "pip failed:\nsomething else",
    }
    for said, meaning in explained.items():
        assert meaning in environment.explain(said)


def test_the_lock_names_one_version_of_everything_the_project_needs(environment: ModuleType) -> None:
    import tomllib

    pinned = environment.read_pinned((ROOT / "requirements.lock").read_text())
    assert all(re.fullmatch(r"\S+==\S+( \\\n    --hash=sha256:[0-9a-f]{64})+\n", package) for package in pinned)
    locked = [package.split()[0].replace("_", "-") for package in pinned]  # packages write their own names in both ways
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for needed in [*project["dependencies"], *project["optional-dependencies"]["dev"]]:
        assert needed.replace("_", "-").lower() in locked, f"{needed} is not in requirements.lock; run `make lock`"


def test_the_notice_names_the_licence_of_every_locked_package() -> None:
    assert (ROOT / "NOTICE").read_text() == compose_notice(), "run `make lock`"
    assert "see the package" not in compose_notice()
