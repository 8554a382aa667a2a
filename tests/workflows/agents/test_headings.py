"""Headings within a written text: what is one, and what is a sentence or a line of code."""

import pytest

from workflows.agents.reporting.headings import drop_title, flatten_headings, split_at_headings

CODE = "Install it [q1].\n\n```bash\n# first\npip install it\n---\n```\n\nThen run it [q1]."


def test_a_line_of_code_is_no_heading() -> None:
    assert [(part.level, part.text) for part in split_at_headings(CODE)] == [(0, CODE)]
    assert flatten_headings(CODE) == CODE


@pytest.mark.parametrize("line", ["**Wages fell by 40 percent after 1890 [q3].**", "**Wages fell [q3]**", "**工资下降了。**"])
def test_a_sentence_in_bold_stays_a_sentence(line: str) -> None:
    assert [(part.heading, part.text) for part in split_at_headings(line)] == [("", line)]


def test_a_bold_line_without_a_citation_is_a_heading() -> None:
    assert [(part.level, part.heading) for part in split_at_headings("**Wages after 1890**\n\nThey fell [q3].")][1:] == [
        (3, "Wages after 1890")
    ]


def test_fences_that_nothing_closes_are_removed() -> None:
    assert [part.text for part in split_at_headings("````\nOne [q1].\n```\nTwo [q1].")] == ["One [q1].\n\nTwo [q1]."]
    assert [part.text for part in split_at_headings("```bash\npip install it\n\nThen [q1].")] == ["pip install it\n\nThen [q1]."]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("The 1960s\n2. The 1960s: Poverty fell [q1].", "Poverty fell [q1]."),
        ("The 1960s saw poverty fall [q1].", "The 1960s saw poverty fall [q1]."),
        ("Poverty fell [q1].\n\nThe 1960s: so it was.", "Poverty fell [q1].\n\nThe 1960s: so it was."),
        ("the 1960s", ""),
    ],
)
def test_a_section_that_begins_with_its_own_heading_as_text_begins_behind_it(text: str, left: str) -> None:
    assert drop_title(text, "The 1960s") == left
