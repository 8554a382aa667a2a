"""Issues of writing, counted by section with a judge that finds one word."""

from pathlib import Path
from typing import Any

import pytest

from tests.training.evaluation.item_scoring import cut_tag, score_first_item
from tests.training.evaluation.small_benchmark import write_benchmark
from training.evaluation.benchmarks.catalogue import load_benchmark

REPORT = """# Tariffs

Rates rose [1]. Thereupon they did fell.

Wool was dear.

## Prices

They did fell again.

## Sources

[1] a page that did fell
"""


def finds_did_fell(step: str, prompt: str) -> Any:
    assert step == "writing_issues"
    issue = {"kind": "expression", "words": "did fell", "reason": "grammar"}
    return {"issues": [issue] if "did fell" in cut_tag(prompt, "section") else []}


async def test_paragraphs_with_issues_are_a_share_of_all_paragraphs(tmp_path: Path) -> None:
    found = await score_first_item("drb-writing", write_benchmark(tmp_path), REPORT, finds_did_fell)
    assert found.values == {"paragraphs": 3.0, "paragraphs_with_issues": 2.0, "issues": 2.0}, "sources are no writing"
    assert found.detail == [{"kind": "expression", "words": "did fell", "reason": "grammar"}] * 2
    assert load_benchmark("drb-writing").figures["issue_rate"].compute([found]) == pytest.approx(2 / 3)


async def test_a_section_that_nobody_judged_leaves_the_report_without_a_rate(tmp_path: Path) -> None:
    found = await score_first_item("drb-writing", write_benchmark(tmp_path), REPORT, lambda *_: {"issues": "none"})
    assert set(found.missing) == {"paragraphs", "paragraphs_with_issues", "issues"}
    assert not found.values
