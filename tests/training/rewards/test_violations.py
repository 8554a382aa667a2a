"""MindDR Eq. 11 over whole answers."""

import pytest

from training.rewards.transcript import Transcript, read_step
from training.rewards.violations import number_citations, violations_of

SOURCES = "\n\n## Sources\n[1] A"
TABLE = "\n\n| A | B |\n|---|---|\n| 1 | 2 |"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (f"<answer>Rates rose [1].{TABLE}{SOURCES}</answer>", (False, False, False)),
        (f"Rates rose [1].{SOURCES}", (True, True, True)),
        ("<answer> </answer>", (True, True, True)),
        (f"<answer>Rates rose [1].\n\n1. a\n3. b{SOURCES}</answer>", (False, True, False)),
        (f"<answer>Rates rose [1].{TABLE.replace('|---|---|', '|---|')}{SOURCES}</answer>", (False, True, False)),
        (f"<answer>Rates rose [2].{SOURCES}</answer>", (False, False, True)),
    ],
)
def test_each_kind_counts_once(output: str, expected: tuple[bool, bool, bool]) -> None:
    found = violations_of(Transcript((read_step(output),)))
    assert (found.tag, found.markdown, found.references) == expected
    assert found.reward == -sum(expected)


@pytest.mark.parametrize(
    ("draft", "numbered"),
    [
        ("Rates rose [p1, p2].", "Rates rose [1, 2]."),
        ('<cite id="p2">Rates rose.</cite>', "Rates rose. [2]"),
        ("Rates rose [p1, p9].", "Rates rose [p1, p9]."),
        ('<cite id="p9">Rates rose.</cite>', '<cite id="p9">Rates rose.</cite>'),
        ('<cite id="">Rates rose.</cite>', '<cite id="">Rates rose.</cite>'),
    ],
)
def test_a_draft_that_cites_as_it_was_asked_to_is_no_violation(draft: str, numbered: str) -> None:
    assert number_citations(draft, ("p1", "p2")) == numbered
    transcript = Transcript((read_step(f"<answer>{draft}</answer>"),))
    assert violations_of(transcript, ("p1", "p2")).references == (draft == numbered)
    assert violations_of(transcript).references
