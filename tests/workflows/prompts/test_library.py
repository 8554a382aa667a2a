from pathlib import Path

import pytest

from app.domain.query import Language
from workflows.prompts.library import PromptError, PromptLibrary


def write(folder: Path, name: str, english: str, chinese: str | None) -> None:
    (folder / name).mkdir()
    (folder / name / "v1.md").write_text(english, encoding="utf-8")
    if chinese is not None:
        (folder / name / "v1.zh.md").write_text(chinese, encoding="utf-8")


def test_a_prompt_is_a_system_and_a_user_message(tmp_path: Path) -> None:
    write(tmp_path, "greet", "Be kind on {{day}}.\n=== user ===\nHello {{name}}", "善意 {{day}}\n=== user ===\n你好 {{name}}")
    library = PromptLibrary.load(tmp_path)
    system, user = library.get("greet", Language.ENGLISH).render(day="Monday", name="Ada")
    assert (system.content, user.content) == ("Be kind on Monday.", "Hello Ada")
    assert library.get("greet", Language.CHINESE).render(day="周一", name="A")[1].content == "你好 A"
    assert len(library.digests["greet/v1/en"]) == 64


def test_values_cannot_bring_placeholders(tmp_path: Path) -> None:
    write(tmp_path, "greet", "=== user ===\n{{first}} {{second}}", "=== user ===\n{{first}} {{second}}")
    prompt = PromptLibrary.load(tmp_path).get("greet", Language.ENGLISH)
    assert prompt.render_text(first="{{second}} {first} %s", second="{{first}}") == "{{second}} {first} %s {{first}}"


@pytest.mark.parametrize("values", [{}, {"name": "x", "extra": "y"}, {"other": "x"}])
def test_missing_and_unknown_values_are_errors(tmp_path: Path, values: dict[str, str]) -> None:
    write(tmp_path, "greet", "=== user ===\n{{name}}", "=== user ===\n{{name}}")
    with pytest.raises(PromptError):
        PromptLibrary.load(tmp_path).get("greet", Language.ENGLISH).render(**values)


@pytest.mark.parametrize(
    ("english", "chinese"), [("no cut", "no cut"), ("=== user ===\n{{a}}", None), ("=== user ===\n{{a}}", "=== user ===\n{{b}}")]
)
def test_malformed_files_and_missing_twins_are_errors(tmp_path: Path, english: str, chinese: str | None) -> None:
    write(tmp_path, "greet", english, chinese)
    with pytest.raises(PromptError):
        PromptLibrary.load(tmp_path)


def test_an_unknown_prompt_is_an_error() -> None:
    with pytest.raises(PromptError, match="no prompt"):
        PromptLibrary.load().get("limerick", Language.ENGLISH)


def test_every_prompt_is_in_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "prompts.md").read_text(encoding="utf-8")
    names = {digest.partition("/")[0] for digest in PromptLibrary.load().digests}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


TOLD = (
    "=== user ===\nThe question:\n{{question}}\n\nWhat the reader wants:\n{{intent}}\n\n"
    "Notes: {{notes}}\nSaid: {{said}}\n\n{{memory}}\n\nGo on."
)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ({}, "The question:\nWhy?\n\nGo on."),
        ({"intent": "to know"}, "The question:\nWhy?\n\nWhat the reader wants:\nto know\n\nGo on."),
        ({"said": "no", "memory": "{{notes}}"}, "The question:\nWhy?\n\nSaid: no\n\n{{notes}}\n\nGo on."),
    ],
)
def test_an_empty_value_takes_its_line_and_its_label_along(tmp_path: Path, values: dict[str, str], shown: str) -> None:
    write(tmp_path, "greet", TOLD, TOLD)
    given = {"question": "Why?", "intent": "", "notes": "", "said": "", "memory": ""} | values
    assert PromptLibrary.load(tmp_path).get("greet", Language.ENGLISH).render_text(**given) == shown


def test_a_sentence_with_an_empty_value_stays(tmp_path: Path) -> None:
    write(tmp_path, "greet", "=== user ===\nWrite it. {{style}}", "=== user ===\n写。{{style}}")
    assert PromptLibrary.load(tmp_path).get("greet", Language.ENGLISH).render_text(style="") == "Write it. "
