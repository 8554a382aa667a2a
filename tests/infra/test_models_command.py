"""`rubrica models`, and commands that are told to serve a model themselves."""

from pathlib import Path

import pytest

from infra.extras import SMALLEST_MODEL, is_importable
from tests.support.stack import run_rubrica
from workflows.chat_models.local_models import read_model_catalogue

NAME = "qwen2.5-coder-0.5b"
MODEL = read_model_catalogue()[NAME]
# No way to the hub, on machines with a network too.
OFFLINE = {"https_proxy": "http://127.0.0.1:1", "no_proxy": ""}


def test_the_list_says_what_each_model_takes_and_where_it_is(tmp_path: Path) -> None:
    done = run_rubrica(tmp_path / "home", "models")
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith(NAME))
    for said in ("491 MB", "Apache-2.0", "context 4,096", "memory", "min a quick report", "not here"):
        assert said in line


def test_fetching_without_a_network_says_which_file_to_put_where(tmp_path: Path) -> None:
    given = tmp_path / "given"
    done = run_rubrica(tmp_path / "home", "models", "fetch", NAME, RUBRICA_MODELS_DIR=str(given), **OFFLINE)
    assert done.returncode == 2
    assert f"put {MODEL.file.name} (SHA-256 {MODEL.file.sha256[0]}), from {MODEL.url}, into {given}" in done.stderr


def test_a_damaged_file_is_found(tmp_path: Path) -> None:
    (tmp_path / MODEL.file.name).write_bytes(b"no model")
    done = run_rubrica(tmp_path / "home", "models", "check", RUBRICA_MODELS_DIR=str(tmp_path))
    assert done.returncode == 1
    assert f"damaged: {tmp_path / MODEL.file.name}" in done.stdout


def test_an_unknown_name_lists_those_there_are(tmp_path: Path) -> None:
    done = run_rubrica(tmp_path / "home", "models", "fetch", "gpt")
    assert done.returncode == 2
    assert NAME in done.stderr


@pytest.mark.extra("xllamacpp")
def test_a_question_for_a_model_that_is_not_here_says_how_to_get_it(tmp_path: Path) -> None:
    done = run_rubrica(tmp_path / "home", "ask", "Why?", folder=tmp_path, RUBRICA_LOCAL_MODEL=NAME)
    assert done.returncode == 2
    assert f"`rubrica models fetch {NAME}` downloads it (491 MB)" in done.stderr
    assert f"put {MODEL.file.name}" in done.stderr


@pytest.mark.skipif(is_importable("xllamacpp"), reason="xllamacpp is here")
def test_a_question_without_the_engine_says_how_to_install_it(tmp_path: Path) -> None:
    done = run_rubrica(tmp_path / "home", "ask", "Why?", folder=tmp_path, RUBRICA_LOCAL_MODEL=NAME)
    assert done.returncode == 2
    assert "pip install 'rubrica[embedded]'" in done.stderr


def test_a_server_and_a_model_to_serve_exclude_each_other(tmp_path: Path) -> None:
    named = {"RUBRICA_LLM_BASE_URL": "http://127.0.0.1:1/v1", "RUBRICA_LLM_MODEL": "m", "RUBRICA_LOCAL_MODEL": NAME}
    done = run_rubrica(tmp_path / "home", "ask", "Why?", **named)
    assert done.returncode == 2
    assert "leave one out" in done.stderr


@pytest.mark.slow
@pytest.mark.extra("xllamacpp")
def test_a_file_that_is_no_model_ends_the_start_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"not a model at all")
    done = run_rubrica(tmp_path / "home", "ask", "Why?", folder=tmp_path, RUBRICA_LOCAL_MODEL="bad.gguf")
    assert done.returncode == 2
    assert "cannot be served as a model" in done.stderr


@pytest.mark.slow
@pytest.mark.extra("xllamacpp", "weights")
def test_a_question_reaches_a_model_that_the_stack_serves(tmp_path: Path) -> None:
    """The smallest model writes no report; the cap of tokens parks the run once it has answered."""
    home = tmp_path / "home"
    asked = ("ask", "When did the tea house open?", "--max-tokens", "100")
    done = run_rubrica(home, *asked, folder=tmp_path, RUBRICA_LOCAL_MODEL=str(SMALLEST_MODEL))
    said = done.stdout + done.stderr
    assert "a context of 4,096 tokens" in said
    assert "MB are free" in said
    assert "quick effort" in said
    assert done.returncode == 3, said
    assert f"{SMALLEST_MODEL.stem} is served at http://127.0.0.1:" in (home / "logs" / "model.log").read_text()
