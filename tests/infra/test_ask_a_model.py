"""`rubrica ask` with a model whose server refuses: the command says so at once, and what to do."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stack import ROOT, run_rubrica


@pytest.fixture
def refusing_model() -> Iterator[str]:
    """The address of a server that lists its models and answers none of their calls."""
    command = [sys.executable, "-m", "tests.support.model_stub", "--port", "0", "--fault", "not_found=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.terminate()


def test_a_model_that_does_not_exist_is_named_before_anything_is_spent(refusing_model: str, tmp_path: Path) -> None:
    named = {"RUBRICA_LLM_BASE_URL": refusing_model, "RUBRICA_LLM_MODEL": "toy"}
    done = run_rubrica(tmp_path / "home", "ask", "How did presidents justify tariffs?", folder=tmp_path, **named)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "nothing was started: the language model 'toy' refuses every request (HTTP 404: no such path)" in done.stderr
    assert "check RUBRICA_LLM_MODEL" in done.stderr
    assert "accepted" not in done.stdout
    assert "will probably take" not in done.stdout
