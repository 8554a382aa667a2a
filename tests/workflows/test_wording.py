"""What agents and judges say by themselves: in both languages with the same slots, and no sentence that nobody says."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Formatter

import pytest

from app.domain.query import Language
from workflows.agents import wording
from workflows.judging import remarks

WORKFLOWS = Path(wording.__file__).parents[1]
TABLES = ("wording.py", "remarks.py")
SOURCES = [ast.parse(path.read_text()) for path in WORKFLOWS.rglob("*.py") if path.name not in TABLES]
MADE_UP_LATER = "counted_"
Table = Mapping[str, Mapping[Language, str]]


def slots(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def calls(function: str) -> Iterator[tuple[str, set[str]]]:
    """Keys that are said by their name, with the values put in."""
    for source in SOURCES:
        for node in ast.walk(source):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function and node.args:
                key = node.args[0]
                if isinstance(key, ast.Constant):
                    yield str(key.value), {keyword.arg for keyword in node.keywords if keyword.arg}


@pytest.mark.parametrize(("function", "table"), [("say", wording.WORDINGS), ("word_remark", remarks.REMARKS)])
def test_every_sentence_stands_in_both_languages_and_is_said_with_its_values(function: str, table: Table) -> None:
    for key, texts in table.items():
        assert set(texts) == set(Language), key
        assert len({frozenset(slots(text)) for text in texts.values()}) == 1, key
    said = list(calls(function))
    assert len(said) > 10
    for key, values in said:
        assert slots(table[key][Language.ENGLISH]) == values, key
    strings = {node.value for source in SOURCES for node in ast.walk(source) if isinstance(node, ast.Constant)}
    named = strings | set(wording.PART_NOTICES.values())
    assert [key for key in table if key not in named and not key.startswith(MADE_UP_LATER)] == []


def test_advice_to_the_model_stands_in_both_languages_behind_a_reason() -> None:
    for key, texts in wording.ADVICE.items():
        assert key in wording.WORDINGS
        assert set(texts) == set(Language), key
        assert len({frozenset(slots(text)) for text in texts.values()}) == 1, key
