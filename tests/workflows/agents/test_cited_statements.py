"""What a citation stands behind, and the words of its passage that are chosen for it."""

import pytest

from app.domain.evidence import Passage, Source, snapshot_hash
from workflows.agents.cited_statements import find_statement
from workflows.agents.sentence_choice import QUOTE_CHARS, choose_quotes

TEXT = (
    "The guest room costs £18 a night. Bookings are made at the office. From the third breach of these rules, £25 is charged "
    "each time. Bulky items are fetched on Mondays; book Len five working days ahead, £15 an item. A lost fob is reported to the "
    "office on the same day. A new fob costs £16, which pays for blocking the old fob too. Nothing may stand in the corridors."
)
SOURCE = Source(url="https://example.org/rules", title="Rules", snapshot=snapshot_hash(TEXT))
RULES = Passage(source=SOURCE, text=TEXT, start=100, end=100 + len(TEXT))


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("The room is £18.", ["The guest room costs £18 a night."]),
        ("A third breach costs £25.", ["From the third breach of these rules, £25 is charged each time."]),
        ("Report a lost fob to the office", ["A lost fob is reported to the office on the same day."]),
        ("Corridors stay free.", ["Nothing may stand in the corridors."]),
        (
            "The guest room is £18 a night, and nothing may stand in corridors.",
            ["The guest room costs £18 a night.", "Nothing may stand in the corridors."],
        ),
    ],
)
def test_a_statement_is_quoted_by_the_sentences_that_say_it(statement: str, words: list[str]) -> None:
    quotes = choose_quotes(RULES, statement)
    assert sorted(quote.text for quote in quotes) == sorted(words)
    assert all(TEXT[quote.start - 100 : quote.end - 100] == quote.text for quote in quotes)


def test_what_shares_no_word_is_quoted_by_what_is_known_or_begins() -> None:
    assert [quote.text for quote in choose_quotes(RULES, "走廊")] == ["The guest room costs £18 a night."]
    known = choose_quotes(RULES, "corridors")
    assert choose_quotes(RULES, "走廊", known) == known


def test_a_passage_without_sentences_is_quoted_in_part() -> None:
    text = "word " * 400
    [quote] = choose_quotes(Passage(source=SOURCE, text=text, start=0, end=len(text)), "word")
    assert 0 < len(quote.text) <= QUOTE_CHARS


def test_a_quotation_begins_with_what_its_first_words_stand_for() -> None:
    text = "Letters cost five cents. Transporting the mails grew dear. In 1852 the sum paid for this service was four millions."
    [quote] = choose_quotes(Passage(source=SOURCE, text=text, start=0, end=len(text)), "In 1852 it was four millions.")
    assert quote.text == "Transporting the mails grew dear. In 1852 the sum paid for this service was four millions."


def test_a_sentence_longer_than_several_may_be_is_still_chosen() -> None:
    long = f"We object to {'one more reason, ' * 50}and to losses paid by general taxation."
    text = f"Letters pay their way. {long}"
    [quote] = choose_quotes(Passage(source=SOURCE, text=text, start=0, end=len(text)), "He objected to losses paid by taxation.")
    assert quote.text == long


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Wool rose. Iron fell by nine per cent in a year [q1]", "Iron fell by nine per cent in a year "),
        ("Wool rose by nine per cent in a year [q1], iron [q2]", "Wool rose by nine per cent in a year , iron "),
        ("| Fob | Report it [q1]; pay | £25 each time [q2]", "Fob ; pay | £25 each time "),
        ("a line\n| Fob | Report it at the front desk today [q1]", "Fob | Fob | Report it at the front desk today "),
        ("| Fob | £25 [q1] | As before [q2] | paid at the desk\nBelow", "| Fob | £25 | As before | paid at the desk"),
    ],
)
def test_the_statement_of_a_citation_is_its_sentence_or_what_its_row_says(text: str, statement: str) -> None:
    last = text.rindex("[q")
    before = text.rfind("]", 0, last) + 1
    assert find_statement(text, last, before).split() == statement.split()
