import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.evidence import Passage, Source, snapshot_hash
from workflows.agents.quoting import locate_quote, quote_from
from workflows.agents.untrusted import as_source

TEXT = (
    "It was said: “The tariff of 1890 raised\nduties — sharply.” Some argued, as Mr. Clay did, that it ruined trade. "
    "Others held inter\u00adnational views. 一九三〇年的关税法把平均税率提高到百分之五十以上。许多国家随后采取了报复措施。"
)


def passage(text: str, start: int = 0) -> Passage:
    snapshot = "x" * start + text
    source = Source(url="https://example.org", title="T", snapshot=snapshot_hash(snapshot))
    return Passage(source=source, text=text, start=start, end=start + len(text))


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("it ruined trade", "it ruined trade"),
        ('"The TARIFF of 1890 raised duties - sharply."', "The tariff of 1890 raised\nduties — sharply"),
        (
            "the tariff of 1890 ... it ruined trade.",
            "The tariff of 1890 raised\nduties — sharply.” Some argued, as Mr. Clay did, that it ruined trade",
        ),
        ("The tariff of 1890 […] Some argued", "The tariff of 1890 raised\nduties — sharply.” Some argued"),
        ("held international views", "held inter\u00adnational views"),
        ("平均税率提高到百分之五十以上", "平均税率提高到百分之五十以上"),
    ],
)
def test_words_are_found_up_to_marks_space_and_case(said: str, found: str) -> None:
    span = locate_quote(TEXT, said)
    assert span is not None
    assert TEXT[span.start : span.end] == found


@pytest.mark.parametrize(("source", "said"), [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")])
def test_an_accent_may_be_a_character_of_its_own(source: str, said: str) -> None:
    text = unicodedata.normalize(source, "Préface: l'État a relevé les droits de douane; nul n'a protesté.")
    words = "l'État a relevé les DROITS de douane"
    span = locate_quote(text, unicodedata.normalize(said, words))
    assert span is not None
    assert text[span.start : span.end].lower() == unicodedata.normalize(source, words).lower()


@pytest.mark.parametrize(
    "said",
    [
        "",
        "...",
        "trade",
        "the tariff of 1894",
        "it ruined trade ... The tariff of 1890",
        "The tariff of 1890 lowered duties",
        "“”‘’....,,,;;;",
    ],
)
def test_words_that_are_not_there_are_not_found(said: str) -> None:
    assert locate_quote(TEXT, said) is None


def test_a_quote_has_the_sources_words_and_offsets_in_the_snapshot() -> None:
    source = passage(TEXT, start=100)
    quote = quote_from(source, "SOME ARGUED, AS MR. CLAY DID, THAT IT RUINED TRADE")
    assert quote is not None
    snapshot = "x" * 100 + TEXT
    assert snapshot[quote.start : quote.end] == quote.text == "Some argued, as Mr. Clay did, that it ruined trade"


def test_a_few_words_grow_to_their_sentence_and_a_chapter_is_cut() -> None:
    short = quote_from(passage(TEXT), "ruined trade")
    assert short is not None
    assert short.text == "Some argued, as Mr. Clay did, that it ruined trade."
    chapter = "A sentence of some length stands here. " * 60
    long = quote_from(passage(chapter), chapter)
    assert long is not None
    assert len(long.text) <= 900
    assert long.text.endswith("here.")


@given(text=st.text(max_size=300), said=st.text(max_size=80))
def test_whatever_is_said_offsets_are_true(text: str, said: str) -> None:
    quote = quote_from(passage(text, start=3), said)
    assert quote is None or ("xxx" + text)[quote.start : quote.end] == quote.text


@given(text=st.text(alphabet="ab c.\n", min_size=30, max_size=200), data=st.data())
def test_what_stands_in_a_text_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 12))
    said = text[start : data.draw(st.integers(start + 10, len(text)))]
    if len(said.strip()) >= 8:
        assert locate_quote(text, said) is not None


@pytest.mark.parametrize(
    "source",
    [
        "\u26a0\ufe0f Warning: the lid opens by itself.",
        "\u202bThe lid opens\u202c by itself at noon.",
        "\u845b\U000e0100\u57ce\u5e02\u7684\u5e02\u653f\u5385\u5728\u6b64",
        "Tumour protein 53 (p53) is mutated here.",
    ],
)
def test_what_a_source_is_shown_as_is_found_in_it(source: str) -> None:
    span = locate_quote(source, as_source(source))
    assert span is not None
    assert source[span.start : span.end].strip("\u202b. ") == source.strip("\u202b. ")
