import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.language.sentences import list_sentences, split_sentences


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Mr. Speaker, Mr. Vice President, I come to report.", "The state of our union is strong."],
        ["Gen. U. S. Grant met Dr. J. B. Smith in Washington, D.C. in 1869.", "He left."],
        ["It was signed in the U.S.", "The Senate agreed."],
        ["The U.S. Senate met at 9 a.m. on Monday.", "It rose at noon."],
        ["Revenue was $1.5 million, or 3.2 per cent. of the total.", "In No. 7 and Sec. 4 of the act, see p. 12.", "Done."],
        ['"What shall we do?" he asked.', '"Nothing!"', "They left."],
        ['It said: "Save energy. Waste nothing", with goals.', "“Stop. Now,” he said.", 'It is 5" long.', 'And it is 6" wide.'],
        ['He said: "I am sure.', 'You are not."', "Then he left."],
        ["Wait... there is more.", "Is there?", "Yes!"],
        ["The J. P. Morgan Co. report of Smith et al. was late.", "Nobody read it."],
    ],
)
def test_english_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_headings_lists_and_wrapped_lines() -> None:
    text = "FOREIGN RELATIONS\n\nOur relations with all powers\nare friendly. They remain so.\n\n"
    text += "- First item\n- Second item. It goes on.\n\n## A heading\nBody text."
    assert sentences(text) == [
        "FOREIGN RELATIONS",
        "Our relations with all powers\nare friendly.",
        "They remain so.",
        "- First item",
        "- Second item.",
        "It goes on.",
        "## A heading",
        "Body text.",
    ]


NARROW = """The board discussed the planned merger with
Northern Rail and approved it with five votes
against two. Ms. Okoye explained that the
Competition Authority expects an answer by
12 June."""
NARROW_GERMAN = """Der Vorstand hat vor den Ferien beschlossen,
dass die Mitarbeiter der Werkstatt in Leipzig
Homeoffice an zwei Tagen nehmen dürfen."""


@pytest.mark.parametrize(("text", "count"), [(NARROW, 2), (NARROW_GERMAN, 1)])
def test_a_narrow_page_cuts_no_sentence(text: str, count: int) -> None:
    assert len(sentences(text)) == count


@pytest.mark.parametrize(
    "text",
    [
        "Institute for the History of Railways\nProfessor Emerita Maria Lund-Andersen\nvan Goghstraat 17, third floor\nAmsterdam",
        "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate\nRough winds do shake the buds of May.",
        "Pea soup with mint and garden herbs\nSea bass or mushroom pithivier\nlemon posset, with shortbread\nCoffee and tea.",
        "Files: atspi/atspi-device-listener.c\n  atspi/atspi-event-listener.c and more\nCopyright: 2010, 2011, Novell, Inc.",
        "Depot in Leeds       120 people  3.5 m\nworkshops in York    110 people  2.9 m\nHarrogate, Selby      90 people  2.1 m.",
        "The history of the railways in Yorkshire\nA report to the board, for members only\nApproved by the council in May.",
        "- Pea soup with mint and fresh herbs from\nthe garden of the house in Sandgate\nSea bass or mushroom pithivier today.",
    ],
)
def test_lines_that_somebody_ended_stay_apart(text: str) -> None:
    assert not [sentence for sentence in sentences(text) if re.search(r"\n[A-Z]", sentence)]


def test_numbered_items_keep_their_number() -> None:
    assert sentences("1. The first point is peace. It matters.\n2. The second is trade.") == [
        "1. The first point is peace.",
        "It matters.",
        "2. The second is trade.",
    ]


def test_chinese_sentences() -> None:
    text = "北京是中国的首都。它有三千年历史！“你去过吗？”他问。\n是的……\n第二段没有标点\n下一行。GDP增长3.5%，达到1.2万亿元。"
    assert sentences(text) == [
        "北京是中国的首都。",
        "它有三千年历史！",
        "“你去过吗？”",
        "他问。",
        "是的……",
        "第二段没有标点",
        "下一行。",
        "GDP增长3.5%，达到1.2万亿元。",
    ]


def test_only_overlong_sentences_are_cut_at_semicolons() -> None:
    short = "The tariff was raised; the revenue fell."
    assert sentences(short) == [short]
    clause = (
        "the several States retained the powers not surrendered to the General Government, and used them in the people's interest"
    )
    long = "; ".join(["Whereas " + clause, clause, clause, clause]) + "."
    pieces = sentences(long)
    assert len(pieces) == 4
    assert all(piece.endswith((";", ".")) for piece in pieces)


@given(st.text(alphabet=st.sampled_from("aB. \n;?!\"'。！”“中文1,()…-#\t")) | st.text())
def test_spans_are_ordered_trimmed_and_leave_only_white_space_between(text: str) -> None:
    position = 0
    for start, end in split_sentences(text):
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


def test_mixed_text_is_cut_by_the_marks_of_both_scripts() -> None:
    text = "Dr. Li Wei（李伟）said: “GDP rose 3.5%.” 他说：“增长放缓。”The U.S. agreed.然后他离开了。"
    assert sentences(text) == [
        "Dr. Li Wei（李伟）said: “GDP rose 3.5%.”",
        "他说：“增长放缓。”",
        "The U.S. agreed.然后他离开了。",
    ]


def test_sentences_are_listed_as_texts() -> None:
    assert list_sentences(" One. \n\n Two? ") == ["One.", "Two?"]
    assert list_sentences(" ") == []


@pytest.mark.parametrize(
    "expected",
    [
        ["Rückfahrt ist am 21. Juli um 14 Uhr.", "Am 3. Dez. 2024 ist geschlossen."],
        ["Der Schlüssel liegt z. B. beim Nachbarn, d. h. im Hof.", "Er passt u. U. Nachmittags nicht."],
        ["Ein Brief geht z. Hd. Herrn Meier.", "Cäsar starb 44 v. Chr. Geburt.", "Es gilt § 4 Abs. 3 des Gesetzes."],
        ["Der Preis beträgt 500 Euro einschl. Mehrwertsteuer, ausschl. Versand.", "Ein österr. Verein zahlt 3 Mio. Euro."],
        ["It is a function of z.", "Figure 3 shows it.", "They met in a café.", "Émile paid."],
        ["Fragen Sie Fr. Gruber oder Hr. Maier.", "Wir helfen gern."],
        ["Open Mon. to Fri. 9 a.m. to 5 p.m. and Sat. 10 a.m. to noon.", "Geöffnet Mo. 9 bis 12 Uhr."],
        ["There he sat.", "9 others stood in the sun.", "2 of them left in 2021.", "August was cold."],
        ["It grows with the value of x.", "I think that it is at most y.", "Suppose that it is not."],
    ],
)
def test_german_abbreviations_and_days(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


@pytest.mark.parametrize("word", ["no", "fig", "pp"])
def test_an_abbreviation_before_a_number_ends_nothing(word: str) -> None:
    assert sentences(f"See {word}. 7 of it. The end.") == [f"See {word}. 7 of it.", "The end."]


def test_dots_that_lead_to_a_figure_end_nothing() -> None:
    assert list_sentences("“Mast A2 ...... 146” “Mast B7 ...... 310” He waited .... Then he left.") == [
        "“Mast A2 ...... 146” “Mast B7 ...... 310” He waited ....",
        "Then he left.",
    ]
