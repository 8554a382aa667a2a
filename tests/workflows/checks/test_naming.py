"""Reasons that a reader is told: only what is true of the words of both texts."""

import pytest

from workflows.checks.vetoes.naming import name_veto
from workflows.checks.vetoes.reasons import Veto, VetoReason


@pytest.mark.parametrize(
    ("words", "evidence", "told"),
    [
        ("Anna Holm", "The ferry belongs to Anders Holm.", "Anna"),
        ("Dyson", "Freeman Dyson was born in Crowthorne.", ""),
        ("Soviet Russian", "A Soviet and Russian actor.", ""),
        ("Poincare", "Named after Henri Poincaré.", ""),
        ("US", "It is an American company.", ""),
    ],
)
def test_a_name_is_missing_only_if_no_word_begins_like_it(words: str, evidence: str, told: str) -> None:
    veto = name_veto([Veto(VetoReason.NAME, words)], [evidence], doubted=False)
    assert (veto.words if veto else "") == told


@pytest.mark.parametrize(
    ("words", "evidence", "missing"),
    [
        ("25,000", "Twenty-five thousand people came.", False),
        ("12 km", "It is 12,000 metres long.", False),
        ("12 miles", "It is 40 km long.", True),
        ("1942", "It opened in 1949.", True),
        ("first", "It opened in 1949.", False),
    ],
)
def test_a_number_is_missing_only_if_no_form_of_it_is_there(words: str, evidence: str, missing: bool) -> None:
    assert bool(name_veto([Veto(VetoReason.NUMBER, words)], [evidence], doubted=False)) is missing


def test_a_difference_is_named_only_where_the_rest_is_said() -> None:
    close, free = Veto(VetoReason.NEGATION, "not", 0.1), Veto(VetoReason.NEGATION, "not", 0.6)
    assert name_veto([close], [""], doubted=True) == close
    assert name_veto([close], [""], doubted=False) is None
    assert name_veto([free], [""], doubted=True) is None


def test_words_and_places_are_no_reasons() -> None:
    vetoes = [Veto(reason, "steel", 0.1) for reason in (VetoReason.WORDS, VetoReason.ROLES)]
    assert name_veto(vetoes, [""], doubted=True) is None
