"""Fetches the suites that npm and PyPI have, at frozen versions, into this user's cache. None is part of the product."""

import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.conformance.outcome import NotRun
from infra.extras import ExtraUnavailable, install_wheels, run_command

HERE = Path(__file__).resolve().parent
FROZEN = ("package.json", "package-lock.json")
WHEELS = "requirements.txt"


def find_version(name: str) -> str:
    """Return the frozen version of a package: npm's, PyPI's, or that of the development's environment."""
    wheels = dict(line.split("==") for line in (HERE / WHEELS).read_text().splitlines() if "==" in line)
    known = json.loads((HERE / "package.json").read_text())["dependencies"] | wheels
    return str(known.get(name) or importlib.metadata.version(name))


def find_folder() -> Path:
    """Return the folder of the suites: another one for other versions or another Python."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    frozen = b"".join((HERE / name).read_bytes() for name in (*FROZEN, WHEELS)) + sys.version.encode()
    return caches / "rubrica" / "conformance" / hashlib.sha256(frozen).hexdigest()[:16]


def fetch_suites(folder: Path) -> str:
    """Fetch what is not there yet; return what could not be had, empty where all is there."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [_fetch_from_npm(folder), _fetch_from_pypi(folder)]
    sys.path.append(str(folder / "python"))
    return "; ".join(reason for reason in missing if reason)


def _fetch_from_npm(folder: Path) -> str:
    if (folder / "node_modules").is_dir():
        return ""
    made = folder / "npm"
    made.mkdir(exist_ok=True)
    for name in FROZEN:
        shutil.copy(HERE / name, made)
    try:
        run_command(["npm", "ci", "--prefix", str(made), "--ignore-scripts", "--no-audit", "--no-fund"])
    except ExtraUnavailable as reason:
        return f"npm: {reason}"
    (made / "node_modules").rename(folder / "node_modules")
    return ""


def _fetch_from_pypi(folder: Path) -> str:
    made, whole = folder / "python.part", folder / "python"
    if whole.is_dir():
        return ""
    shutil.rmtree(made, ignore_errors=True)
    try:
        install_wheels(sys.executable, "--no-deps", "--target", str(made), "--requirement", str(HERE / WHEELS))
    except ExtraUnavailable as reason:
        return f"PyPI: {reason}"
    made.rename(whole)
    return ""


def find_package(folder: Path, name: str) -> Path:
    """Return the folder of a package of npm.

    Raises:
        NotRun: it could not be fetched.
    """
    found = folder / "node_modules" / name
    if not found.is_dir():
        raise NotRun(f"{name} could not be fetched from npm")
    return found


def find_node(folder: Path) -> str:
    """Return a Node of version 22 or newer: the one that npm has for this machine, or the machine's own.

    Raises:
        NotRun: there is none.
    """
    fetched = sorted((folder / "node_modules").glob("node-linux-*/bin/node"))
    own = shutil.which("node")
    for node in (*map(str, fetched), *([own] if own else [])):
        said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
        if said.returncode == 0 and int(said.stdout.strip().lstrip("v").partition(".")[0]) >= 22:
            return node
    raise NotRun("it needs Node 22, which this machine has not and npm does not offer for it")
