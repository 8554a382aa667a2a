"""The generated files are what the program writes now."""

import importlib.util

import pytest

from infra.client_code import ROOT, generate_files


@pytest.mark.skipif(
    importlib.util.find_spec("datamodel_code_generator") is None, reason="the generator (of the extra `dev`) is not installed"
)
def test_the_generated_files_are_current() -> None:
    old = [path.relative_to(ROOT).as_posix() for path, text in generate_files().items() if path.read_text("utf-8") != text]
    assert not old, "run `python -m infra.client_code`"
