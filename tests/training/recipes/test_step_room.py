"""The length of an answer that a recipe trains acts, or the dry run names the step that caps it."""

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from app.domain.query import Language
from tests.training.recipes.toy_runs import write_toy
from tests.workflows.agent_kit import make_record
from training.recipes.catalogue import load_recipe
from training.recipes.config import read_config
from training.recipes.reinforcement.step_room import list_caps
from workflows.agents.react import REPORT
from workflows.chat_models.scripted import ScriptedModel

TAPES = {"agent_rl": "evidence-trees/tape.jsonl", "search_rl": "graph-queries/tape.jsonl"}
LONG = {"most_tokens": 16_384, "context": 20_000}


@pytest.mark.extra("trl")
def test_a_rubric_may_be_as_long_as_the_recipe_says() -> None:
    from training.recipes.rubric_generator.work import write_rubric

    model = ScriptedModel(["no rubric"])
    asyncio.run(write_rubric("How deep is it?", Language.ENGLISH, model, make_record(), date(2026, 1, 1), 8_192))
    assert model.requests[0].max_tokens == 8_192


@pytest.mark.extra("trl")
@pytest.mark.parametrize(
    ("recipe", "named"),
    [
        ("agent_rl", "react_report asks for 8,000"),
        ("search_rl", "finding asks for 3,000"),
        ("report_rl", "single_pass asks for 12,000"),
    ],
)
def test_the_dry_run_names_the_step_that_caps_an_answer(tmp_path: Path, recipe: str, named: str) -> None:
    found = load_recipe(recipe)
    tools: dict[str, Any] = {"tools": {"tape": TAPES[recipe]}} if recipe in TAPES else {}
    short = found.check(read_config(write_toy(tmp_path, recipe, **tools), found.config))
    long = found.check(read_config(write_toy(tmp_path, recipe, rollouts=LONG, **tools), found.config))
    assert f"the step {named} tokens at most, and rollouts.most_tokens = 16,384" in " ".join(long.list_lines())
    assert not any("asks for" in line for line in short.list_lines())


def test_a_step_with_room_enough_is_not_named() -> None:
    assert list_caps(REPORT.max_tokens, [REPORT]) == []
