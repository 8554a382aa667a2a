"""What is removed from text that comes in, and what stays."""

import unicodedata

import pytest

from app.domain.query import ResearchQuery
from app.domain.safe_text import make_safe, make_safe_line, make_safe_value

REMOVED = [*map(chr, (*range(0x09), *range(0x0E, 0x20), 0x7F, *range(0x80, 0x85), *range(0x86, 0xA0)))]
TURNS = [*map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))]
# Hebrew with marks, Persian with joiners in its words, Arabic with vowels, Hindi with a joiner, an emoji made of two.
WHOLE = (
    'המחיר הוא 5₪\u200f (ראו \u200eISO 8601\u200f) והטקסט "שלום" נשאר.',
    "می\u200cخواهم کتاب\u200cهای «تاریخ» را بخوانم؛ ۱۲٫۵٪",
    "قَالَ إِنَّ السِّعْرَ ١٢٫٥ دولارًا\u061c (انظر ص ٣).",
    "क्\u200dष और 👩\u200d🔬",
    "Tab\tand line\nstay; so do “quotes”, soft\u00adhyphens and 关税。",
)


@pytest.mark.parametrize("character", [*REMOVED, *TURNS], ids=lambda character: f"{ord(character):04X}")
def test_controls_and_turns_of_direction_are_removed(character: str) -> None:
    assert make_safe(f"a{character}b") == "ab"


@pytest.mark.parametrize("sign", ["\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029"])
def test_every_break_is_a_line_feed(sign: str) -> None:
    assert make_safe(f"a{sign}b") == "a\nb"
    assert make_safe_line(f"a{sign}b") == "a b"


@pytest.mark.parametrize("text", WHOLE)
def test_scripts_from_right_to_left_and_joined_letters_stay_whole(text: str) -> None:
    assert make_safe(text) == text
    assert make_safe("\n".join(f"\u202b{word}\u202c" for word in text.split())).split() == text.split()


@pytest.mark.parametrize("text", WHOLE[:4])
def test_a_question_keeps_the_spelling_of_its_script(text: str) -> None:
    assert ResearchQuery(question=f"\u202e{text}\u202c").question == unicodedata.normalize("NFC", text)


def test_all_texts_of_a_json_value_are_safe() -> None:
    value = {"a\x1b": ["b\u202e", {"c": "d\u2028e"}, 1, None, True]}
    assert make_safe_value(value) == {"a": ["b", {"c": "d\ne"}, 1, None, True]}
