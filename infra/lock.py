"""Write `requirements.lock` from pyproject.toml: every package, direct or not, at one version."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
HEADER = "# Made by `make lock` from pyproject.toml; do not edit. Every package that `make setup` installs, at its one version.\n"


def main() -> None:
    """Install the newest versions that pyproject.toml allows into a scratch environment, and write them down."""
    with tempfile.TemporaryDirectory() as scratch:
        python = f"{scratch}/bin/python"
        subprocess.run([sys.executable, "-m", "venv", scratch], check=True)
        pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "install", "--only-binary", ":all:", "--prefer-binary", "setuptools==81.0.0"], check=True)
        subprocess.run([*pip, "install", "--no-build-isolation", "--editable", f"{ROOT}[dev]"], check=True)
        frozen = subprocess.run(
            [*pip, "freeze", "--all", "--exclude-editable"], check=True, capture_output=True, text=True
        ).stdout
    lines = [line for line in frozen.splitlines() if not line.startswith("pip==")]
    LOCK.write_text(HEADER + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
