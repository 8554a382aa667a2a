import pytest

from retrieval.language.dictionary import is_word


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("latte", True),
        ("Hoist", True),
        ("whats", True),
        ("doesnt", True),
        ("beleive", False),
        ("elevater", False),
        ("hois", False),
    ],
)
def test_words_are_told_from_slips(written: str, known: bool) -> None:
    assert is_word(written) is known
