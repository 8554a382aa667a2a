"""Long questions are compared by their parts too."""

from retrieval.search.question_parts import MOST, average_scores, split_question


def test_a_short_question_has_no_parts() -> None:
    assert split_question("Who was president when the canal was opened?") == []


def test_a_long_question_is_cut_into_overlapping_parts_that_hold_all_of_it() -> None:
    words = [f"w{number}" for number in range(21)]
    parts = [part.split() for part in split_question(" ".join(words))]
    assert parts[0] == words[:8]
    assert parts[1] == words[4:12]
    assert parts[-1] == words[16:]
    assert list(dict.fromkeys(word for part in parts for word in part)) == words


def test_a_question_of_a_page_has_a_bounded_number_of_parts() -> None:
    assert len(split_question("word " * 1_000)) == MOST


def test_the_best_part_counts_as_much_as_the_whole() -> None:
    assert average_scores({"a": 0.5, "b": 0.25}, {"a": 1.0}) == {"a": 0.75, "b": 0.25}
