"""Both languages say everything: the tables have the same keys and slots, and the page uses each key and no other."""

import re
from pathlib import Path
from string import Formatter

import pytest

from ui import language
from ui.language import LANGUAGES, load_table, say_count, say_name

UI = Path(__file__).parents[2] / "ui"
# "section.name" in quotes, and f"section.{...}" or f"section.name{...}", which may stand for any key that begins so.
KEY = re.compile(r"""["']([a-z]+\.[a-z0-9_]+)["']""")
SAID = re.compile(r"""\bsay\(\s*["']([^"'{}]+)["']""")
CHOSEN = ("length.", "tone.", "format.", "composition.")  # groups that a form goes through by name
BEGINNING = re.compile(r"""f["']([a-z]+\.[a-z0-9_]*)\{""")
GROUPS = re.compile(r"""(?:say_name|say_count)\(\s*["']([a-z_]+)["']""")


def sources() -> str:
    return "\n".join(path.read_text() for path in sorted(UI.rglob("*.py")))


def slots(wording: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(wording) if name}


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != language.DEFAULT])
def test_the_tables_have_the_same_keys_and_slots(code: str) -> None:
    ours, theirs = load_table(language.DEFAULT), load_table(code)
    assert set(ours) == set(theirs)
    assert {key: slots(theirs[key]) for key in ours if slots(ours[key]) != slots(theirs[key])} == {}
    assert not [key for key in ours if not theirs[key].strip()]


def test_the_page_says_only_what_is_in_the_tables() -> None:
    sections = {key.partition(".")[0] for key in load_table(language.DEFAULT)}
    said = {
        key for key in KEY.findall(sources()) if key.partition(".")[0] in sections and not key.endswith((".py", ".md", ".js"))
    }
    assert (said | set(SAID.findall(sources()))) - set(load_table(language.DEFAULT)) == set()


def test_the_tables_have_nothing_that_is_never_said() -> None:
    text = sources()
    said = set(KEY.findall(text))
    beginnings = (*BEGINNING.findall(text), *(f"{group}." for group in GROUPS.findall(text)), "count.")
    assert [key for key in load_table(language.DEFAULT) if key not in said and not key.startswith((*beginnings, *CHOSEN))] == []


def test_no_view_speaks_past_the_tables() -> None:
    """A sentence between quotes in a view or component is one that a Chinese reader would get in English."""
    found = []
    for path in sorted([*UI.glob("views/*.py"), *UI.glob("components/*.py")]):
        code = re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL)
        code = re.sub(r"#.*", "", code)
        found += [f"{path.name}: {words}" for words in re.findall(r'"([A-Z][a-z]+ [a-z]+[^"<>=]*)"', code)]
    assert found == []


def test_no_button_is_without_a_name() -> None:
    """One that shows an icon only has a label out of sight (`ui/components/icon_button.py`)."""
    assert re.findall(r'st\.(?:\w*button|popover|page_link|expander|toggle)\(\s*""', sources()) == []


def test_counts_have_their_plural(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (say_count("search", 1), say_count("search", 1200)) == ("1 search", "1,200 searches")
    monkeypatch.setattr(language, "get_language", lambda: "zh")
    assert say_count("search", 2) == "2 次检索"
    assert say_name("status", "something_new") == "something new"
