"""The direction of dependencies is checked by a program, and the program is checked by planting violations."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "infra", "retrieval", "rubrica_client", "training", "workflows", "ui")
# A file, what to add to it, and the contract that must object.
VIOLATIONS = (
    ("app/domain/value.py", "import retrieval.ports", "Packages depend in one direction"),
    (
        "app/webhooks/storage.py",
        "import app.webhooks.service.webhooks",
        "Inside a resource: api, schemas, service, storage, nouns",
    ),
    ("app/runs/service/runs.py", "import app.reports.schemas", "Use cases and statements know no HTTP"),
    ("app/runs/storage/runs.py", "import app.reports.service.revisions", "Statements and nouns know no use case"),
    ("app/domain/plan.py", "import app.accounts.nouns.access", "The domain stands on nothing of the app"),
    (
        "workflows/agents/kit.py",
        "import workflows.durable.policies",
        "Inside workflows: durable, systems, judging, tools, agents, checks, prompts",
    ),
    (
        "workflows/judging/remarks.py",
        "import workflows.agents.brief.units",
        "Only the brief itself knows its insides",
    ),
    ("ui/session.py", "import app.settings", "The page speaks HTTP only"),
    ("rubrica_client/request.py", "import app.domain.value", "The client stands alone"),
    ("app/runs/service/runs.py", "import rubrica_client", "The product does not ask itself over HTTP"),
    ("retrieval/ports.py", "import temporalio", "Only durable and the run gateway know Temporal"),
    ("workflows/systems/stages.py", "import aiohttp", "Agents and systems know no framework, HTTP or database"),
    ("app/domain/plan.py", "import sqlmodel", "The domain is pydantic and the standard library"),
)


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    program = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    command = [sys.executable, "-c", program, "--no-cache"]
    return subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_are_kept() -> None:
    finished = lint_imports(ROOT)
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_every_kind_of_violation_is_reported(copy: Path) -> None:
    for file, line, _ in VIOLATIONS:
        path = copy / file
        path.write_text(f"{path.read_text()}\n\ndef planted() -> None:\n    {line}\n")
    finished = lint_imports(copy)
    assert finished.returncode == 1, finished.stdout + finished.stderr
    said = finished.stdout
    for _, _, contract in VIOLATIONS:
        assert f"{contract} BROKEN" in said
    assert "retrieval.ports -> temporalio" in said
