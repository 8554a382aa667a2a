"""Texts that a policy may write to slow its checks: the work grows with their length, and marks cost hardly more than words."""

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from workflows.checks.citation_format import find_citation_faults
from workflows.checks.heading_faults import list_headings
from workflows.checks.markdown_faults import find_markdown_faults
from workflows.checks.tables import find_tables

CHECKS = (find_citation_faults, find_markdown_faults, find_tables, list_headings)


def count_calls(check: Callable[[str], object], text: str) -> int:
    """Count the calls of functions that a check makes on a text."""
    calls = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        check(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("hostile", ["[p1", "[p1 ", "| [p1", "![", "a [p1]. ", "*_"])
def test_marks_cost_hardly_more_than_words(check: Callable[[str], object], hostile: str) -> None:
    plain = hostile.translate(str.maketrans("[]!*_", "aaaaa"))
    assert count_calls(check, hostile * 2_000) <= 2 * count_calls(check, plain * 2_000) + 4 * 2_000


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("hostile", ["[p1\n", "1. [p1]\n", "- [p1\n", "> [1]: a\n", "| [p1 |\n", "[1]: a\n", "# [p1\n", "```\n"])
def test_twice_the_lines_are_twice_the_work(check: Callable[[str], object], hostile: str) -> None:
    assert count_calls(check, hostile * 2_000) <= 2.2 * count_calls(check, hostile * 1_000)
