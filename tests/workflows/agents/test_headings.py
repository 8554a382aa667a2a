"""Headings within a written text: what is one, and what is a sentence or a line of code."""

import pytest

from workflows.agents.reporting.headings import drop_title, flatten_headings, split_at_headings
from workflows.agents.reporting.outline import OutlineAnswer, PartAnswer, SectionAnswer, repair_outline

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


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (
            ["14 September 2026 and the recall", "60 % of probes failed"],
            ["14 September 2026 and the recall", "60 % of probes failed"],
        ),
        (["1. Cause", "2. 14 September 2026", "3. 60 % of probes"], ["Cause", "14 September 2026", "60 % of probes"]),
        (["1 Cause", "2 Effect"], ["Cause", "Effect"]),
        (["1 in 3 probes failed", "Effect"], ["1 in 3 probes failed", "Effect"]),
        (["1. Cause", "Effect", "2. Remedy"], ["Cause", "Effect", "Remedy"]),
        (["1. Cause"], ["Cause"]),
        (["I. Cause", "II. Effect"], ["Cause", "Effect"]),
        (["Section 1: Cause", "Section 2: Effect"], ["Cause", "Effect"]),
        (["一、原因", "二、影响"], ["原因", "影响"]),
        (["一带一路的影响", "2026年的召回"], ["一带一路的影响", "2026年的召回"]),
        (["**1. Cause**", "## 2. Effect"], ["Cause", "Effect"]),
        (["5 lessons", "1.5 degrees of warming"], ["5 lessons", "1.5 degrees of warming"]),
    ],
)
def test_only_numbers_that_count_the_headings_are_taken_off(written: list[str], kept: list[str]) -> None:
    outline = repair_outline(OutlineAnswer(sections=tuple(SectionAnswer(heading=h) for h in written)), 9, "t")
    assert outline is not None
    assert [section.heading for section in outline.sections] == kept


def test_the_numbers_of_parts_count_under_their_section() -> None:
    parts = tuple(PartAnswer(heading=h) for h in ("2.1 Probes", "2.2 14 September 2026"))
    sections = (SectionAnswer(heading="1. Cause"), SectionAnswer(heading="2. Recall", parts=parts))
    outline = repair_outline(OutlineAnswer(title="60 % of probes", sections=sections), 9, "t")
    assert outline is not None
    assert outline.title == "60 % of probes"
    assert [part.heading for part in outline.sections[1].parts] == ["Probes", "14 September 2026"]
