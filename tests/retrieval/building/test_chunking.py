import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.building.chunking import MAX_CHARS, MIN_CHARS, cost_of, split_passages
from retrieval.language.blocks import find_blocks

SENTENCE = "The commerce of the several States with foreign nations has grown beyond all expectation in this year."


def passages(text: str) -> list[str]:
    return [text[start:end] for start, end in split_passages(text, find_blocks(text))]


def test_a_short_text_is_one_passage() -> None:
    assert passages("Title\n\nOne sentence. Another.") == ["Title\n\nOne sentence. Another."]


def test_passages_end_with_sentences_and_have_about_the_wanted_length() -> None:
    found = passages(" ".join([SENTENCE] * 60))
    assert all(passage.endswith("year.") for passage in found)
    assert all(100 <= len(passage.split()) <= 200 for passage in found)


def test_a_paragraph_is_kept_whole_where_it_can_be() -> None:
    paragraphs = [" ".join([SENTENCE] * 8) for _ in range(4)]
    assert passages("\n\n".join(paragraphs)) == paragraphs


def test_a_heading_stays_with_what_follows_it() -> None:
    body = " ".join([SENTENCE] * 8)
    assert passages(f"{body}\n\nFOREIGN RELATIONS\n\n{body}") == [body, f"FOREIGN RELATIONS\n\n{body}"]


@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize("line", ["Item {n} | {n} EUR | hall 3", "- item number {n}", "Item number {n}"])
def test_a_table_or_list_of_any_length_is_cut(line: str, between: str) -> None:
    found = passages(between.join(line.format(n=n) for n in range(2_000)))
    assert max(map(cost_of, found)) <= MAX_CHARS + MIN_CHARS
    assert all(passage.startswith(line[:5].replace("{n}", "")) for passage in found)


def test_chinese_passages_hold_about_240_characters() -> None:
    found = passages("北京是中国的首都，也是世界上人口最多的首都之一。" * 60)
    assert all(150 <= len(passage) <= 320 and passage.endswith("。") for passage in found)


@pytest.mark.parametrize("text", ["x" * 10_000, "word " * 3_000, "字" * 5_000, "a,b;" * 4_000])
def test_text_without_sentences_is_cut_all_the_same(text: str) -> None:
    found = passages(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert max(map(cost_of, found)) <= MAX_CHARS + MIN_CHARS


@given(st.text(alphabet=st.sampled_from("aB. \n;?。中1#-")) | st.text(), st.integers(1, 40))
def test_passages_are_ordered_and_leave_only_white_space_between(text: str, times: int) -> None:
    text *= times
    position = 0
    for start, end in split_passages(text):
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()
