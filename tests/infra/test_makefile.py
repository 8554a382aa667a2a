"""What `make` does with a question: text stays text, whatever it looks like."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def echo_program(tmp_path: Path) -> Path:
    """A program in the interpreter's place that writes down how it was called."""
    program = tmp_path / "echo.py"
    program.write_text(
        "#!/usr/bin/env python3\nimport json, os, sys\n"
        f"json.dump(sys.argv[1:], open({str(tmp_path / 'called')!r}, 'w'))\n"
        f"open({str(tmp_path / 'model')!r}, 'w').write(os.environ.get('RUBRICA_LOCAL_MODEL', ''))\n"
    )
    program.chmod(0o755)
    return program


def make(tmp_path: Path, program: Path, *arguments: str, environment: dict[str, str] | None = None) -> list[str]:
    """Call `make report` with `program` for both interpreters, in a folder of its own; what the program was given."""
    command = ["make", "-f", str(ROOT / "Makefile"), "report", f"PY={program}", f"PYTHON={program}", *arguments]
    subprocess.run(command, cwd=tmp_path, check=True, env=os.environ | (environment or {}), capture_output=True)
    called: list[str] = json.loads((tmp_path / "called").read_text())
    return called


@pytest.mark.parametrize(
    "question",
    [
        "Who said \"no\" and 'yes'?",
        "$(shell touch pwned) ${HOME} $HOME $$ $5",
        "`touch pwned`; touch pwned & touch pwned | cat $(touch pwned)",
        "--help",
        "line one\nline two \\ # not a comment % *",
        "关税的理由是什么？",
    ],
)
def test_a_question_reaches_the_program_unchanged(tmp_path: Path, echo_program: Path, question: str) -> None:
    assert make(tmp_path, echo_program, f"Q={question}")[-2:] == ["--", question]
    assert make(tmp_path, echo_program, environment={"Q": question})[-2:] == ["--", question]
    assert not (tmp_path / "pwned").exists()


def test_a_folder_reaches_the_program_unchanged(tmp_path: Path, echo_program: Path) -> None:
    called = make(tmp_path, echo_program, "Q=why?", "DOCS=my $(shell touch pwned) docs")
    assert called[called.index("--docs") + 1] == "my $(shell touch pwned) docs"
    assert not (tmp_path / "pwned").exists()


def test_a_model_is_named_on_the_command_line_only(tmp_path: Path, echo_program: Path) -> None:
    make(tmp_path, echo_program, "Q=why?", "MODEL=my $(shell touch pwned) model.gguf")
    assert (tmp_path / "model").read_text() == "my $(shell touch pwned) model.gguf"
    make(tmp_path, echo_program, "Q=why?", environment={"MODEL": "of another program"})
    assert (tmp_path / "model").read_text() == ""
    assert not (tmp_path / "pwned").exists()


def test_an_interpreter_is_insisted_on_only_where_the_command_line_names_it(tmp_path: Path, echo_program: Path) -> None:
    command = ["make", "-f", str(ROOT / "Makefile"), "setup"]
    for named, given in ((f"PYTHON={echo_program}",), {}), ((), {"PYTHON": str(echo_program)}):
        subprocess.run([*command, *named], cwd=tmp_path, check=True, env=os.environ | given, capture_output=True)
        called = json.loads((tmp_path / "called").read_text())
        assert called == ["infra/environment.py", *(["--this-python"] if named else [])]


def test_no_question_says_how_to_ask(tmp_path: Path, echo_program: Path) -> None:
    command = ["make", "-f", str(ROOT / "Makefile"), "report", f"PY={echo_program}", f"PYTHON={echo_program}"]
    without = {name: value for name, value in os.environ.items() if name != "Q"}
    finished = subprocess.run(command, cwd=tmp_path, env=without, capture_output=True, text=True, check=False)
    assert finished.returncode != 0
    assert 'make report Q="' in finished.stderr


def test_help_names_every_target() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("setup", "report", "test", "up", "check", "bench-%"):
        assert f"make {target} " in shown
