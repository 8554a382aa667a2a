import re

import pytest

from retrieval.language.english import drop_small_words, is_english, is_in_other_language


@pytest.mark.parametrize(
    "text",
    [
        "How did presidents justify tariffs before 1900?",
        "tariffs 1890",
        "What did the café in Zürich charge for an espresso?",
        "Who was the Duke of Alba, and what did he do in the Netherlands?",
        "Does a van with a die press need insurance?",
        "PCSK9 inhibitors",
        "the de facto head of Los Angeles",
        "die casting",
    ],
)
def test_english_is_told(text: str) -> None:
    assert is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wie hoch ist die Miete für einen Stellplatz?",
        "Combien coûte une place de parking ?",
        "¿Cuánto cuesta el alquiler de una plaza?",
        "Quanto custa o aluguel de uma vaga?",
        "Quanto costa il canone per un posto auto?",
        "Wie lange darf ich am Sonntag die Werkstatt benutzen?",
        "Hoeveel kost het huren van een parkeerplaats?",
        "Сколько стоит место на стоянке?",
        "كم يكلف موقف السيارة؟",
        "駐車場はいくらですか",
        "주차장 요금은 얼마입니까?",
        "车位一个月多少钱？",
    ],
)
def test_other_languages_are_told_from_it(text: str) -> None:
    assert not is_english(text)


ENGLISH = "The tariff of 1824 was meant to protect domestic manufactures."
GERMAN = "Der Zoll von 1824 sollte die heimische Industrie schützen."
CHINESE = "1824年的关税旨在保护国内制造业。"


@pytest.mark.parametrize(
    ("text", "others", "expected"),
    [
        (CHINESE, [ENGLISH, "Henry Clay, 1824"], True),
        (GERMAN, [ENGLISH], True),
        (ENGLISH, [GERMAN, CHINESE], True),
        (ENGLISH, [GERMAN, ENGLISH], False),
        ("Henry Clay, 42%", [CHINESE], False),
        (CHINESE, ["Henry Clay, 42%"], False),
        (GERMAN, ["In Wien dachte 1824 niemand an Zölle."], False),
    ],
)
def test_a_text_is_in_another_language_where_small_words_tell(text: str, others: list[str], expected: bool) -> None:
    assert is_in_other_language(text, others) is expected


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Quelle est la durée du bail ?", ["durée", "bail"]),
        ("Wie lange darf ich am Sonntag in die Werkstatt?", ["lange", "darf", "Sonntag", "Werkstatt"]),
        ("What is the price of a die in Los Angeles?", ["What", "is", "the", "price", "of", "a", "die", "in", "Los", "Angeles"]),
        ("Qui est-ce ?", ["Qui", "est", "ce"]),
    ],
)
def test_the_small_words_of_another_language_are_dropped(text: str, left: list[str]) -> None:
    assert re.findall(r"\w+", drop_small_words(text)) == left
