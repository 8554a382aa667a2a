import pytest
from pydantic import ValidationError

from app.domain.query import Language, ResearchQuery, detect_language


def test_a_question_is_cleaned_of_invisible_characters() -> None:
    query = ResearchQuery(question="  Why\u202e did\u200b tariffs\x07 rise?\n")
    assert query.question == "Why did tariffs rise?"


@pytest.mark.parametrize("question", ["", "   ", "\u200b\u200b", "?!…", "\x00\x01"])
def test_an_empty_question_is_refused(question: str) -> None:
    with pytest.raises(ValidationError, match="empty"):
        ResearchQuery(question=question)


def test_an_oversized_question_is_refused_with_its_size() -> None:
    with pytest.raises(ValidationError, match="100000 characters"):
        ResearchQuery(question="a" * 100_000)


def test_text_that_was_not_utf8_is_refused() -> None:
    with pytest.raises(ValidationError):
        ResearchQuery(question="tariffs \udcff")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How did tariffs change?", Language.ENGLISH),
        ("关税在1900年之前如何被辩护？", Language.CHINESE),
        ("What does 関税 mean in an otherwise long English question about duties?", Language.ENGLISH),
        ("1812?", Language.ENGLISH),
    ],
)
def test_the_language_is_detected(text: str, language: Language) -> None:
    assert detect_language(text) is language
