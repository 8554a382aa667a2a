"""Write `requirements.lock` from pyproject.toml: every package, direct or not, at one version, with the hashes of its files."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
HEADER = """\
# Made by `make lock` from pyproject.toml; do not edit. Every package that `make setup` installs, at its one version, with the
# SHA-256 of each file of that version in the registry: a file with another content is not installed.
"""
# It looks the hashes up, and chooses no version.
HASHER = "uv==0.13.9"


def main() -> None:
    """Install the newest versions that pyproject.toml allows into a scratch environment; write them and their licences down."""
    with tempfile.TemporaryDirectory() as scratch:
        python = f"{scratch}/bin/python"
        subprocess.run([sys.executable, "-m", "venv", scratch], check=True)
        pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "install", "--only-binary", ":all:", "--prefer-binary", "setuptools==81.0.0"], check=True)
        subprocess.run([*pip, "install", "--no-build-isolation", "--editable", f"{ROOT}[dev]"], check=True)
        frozen = subprocess.run(
            [*pip, "freeze", "--all", "--exclude-editable"], check=True, capture_output=True, text=True
        ).stdout
        LOCK.write_text(HEADER + add_hashes(python, [line for line in frozen.splitlines() if not line.startswith("pip==")]))
        subprocess.run([python, str(ROOT / "infra" / "notice.py")], check=True)


def add_hashes(python: str, pinned: list[str]) -> str:
    """Return the pinned packages with the hashes of their files, in pip's form."""
    subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", HASHER], check=True)
    options = ["--quiet", "--no-deps", "--universal", "--generate-hashes", "--no-annotate", "--no-header"]
    command = [python, "-m", "uv", "pip", "compile", *options, "--python-version", "3.11", "-"]
    return subprocess.run(command, input="\n".join(pinned), check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
