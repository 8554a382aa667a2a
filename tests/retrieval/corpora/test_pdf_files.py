"""What a reader of a PDF sees is what is read of it."""

from typing import Any

import pytest

from app.domain.errors import SourceUnreadable
from retrieval.corpora.invented import drop_invented_author, drop_invented_title
from retrieval.corpora.pdf.reader import read_pdf
from tests.retrieval.corpora.pdf_pages import Appearance, Text, field, lines, make_pdf

LEFT = (
    "The ferry across the Orle was",
    "built in 1887 by the parish of",
    "Senn, which paid for the boat",
    "and for both of its landings.",
)
RIGHT = (
    "Its keeper lived on the other",
    "bank, in a house that the river",
    "took away in the flood of the",
    "following spring, with the boat.",
)


def test_values_of_fields_stand_at_their_labels() -> None:
    fields = [
        field("Tx", "buyer", (160, 690, 300, 710), V="Ida Brandt"),
        field("Ch", "parish", (160, 660, 300, 680), V="s", Opt=[["n", "North parish"], ["s", "South parish"]], Ff=1 << 17),
        field("Btn", "insured", (60, 632, 70, 642), V="/Yes", AS="/Yes", AP={"/N": {"/Yes": {}, "/Off": {}}}),
        field("Btn", "mortgaged", (60, 612, 70, 622), V="/Off", AS="/Off", AP={"/N": {"/Yes": {}, "/Off": {}}}),
        field("Tx", "date_of_sale", (60, 500, 200, 520), V="3 May 1911"),
        field("Tx", "secret", (60, 400, 200, 420), V="never shown", F=2),
    ]
    labels = [
        Text(60, 695, "Buyer:"),
        Text(60, 665, "Parish:"),
        Text(76, 634, "insured against fire"),
        Text(76, 614, "mortgaged"),
    ]
    text = read_pdf(make_pdf([labels], fields)).text
    assert text.splitlines()[:1] == ["Buyer: Ida Brandt"]
    assert {"Parish: South parish", "[x] insured against fire", "[ ] mortgaged", "date of sale: 3 May 1911"} < set(
        text.splitlines()
    )
    assert "never shown" not in text


def test_the_chosen_one_of_several_buttons_is_told() -> None:
    states = [
        field("Btn", "term", (60, y, 70, y + 10), AS=state, AP={"/N": {state: {}, "/Off": {}}})
        for y, state in ((632, "/a"), (612, "/Off"))
    ]
    text = read_pdf(make_pdf([[Text(76, 634, "for ten years"), Text(76, 614, "for life")]], states)).text
    assert "[x] for ten years" in text
    assert "[ ] for life" in text


def test_annotations_follow_the_text_of_their_page() -> None:
    kinds = {"/FreeText": "Clause 2 is void.", "/Text": "Ask the notary.", "/Stamp": "Paid", "/Link": "nothing of it"}
    notes = [{"/Subtype": kind, "/Contents": words, "/Rect": [60, 600, 90, 620]} for kind, words in kinds.items()]
    text = read_pdf(make_pdf([[Text(60, 700, "The deed of sale.")], [Text(60, 700, "Page two.")]], notes)).text
    assert text == "The deed of sale.\n\nNote: Clause 2 is void.\n\nNote: Ask the notary.\n\nStamp: Paid\n\nPage two."


def test_what_stamps_and_notes_show_is_read_once() -> None:
    shown = [
        ("/Stamp", "Paid 3 May 1911", {"/Contents": "by I. Brandt"}, (60, 500, 300, 520)),
        ("/FreeText", "Clause 2 is void.", {"/Contents": "Clause 2 is void."}, (60, 400, 300, 420)),
        ("/Stamp", "Draft", {"/Contents": "Draft"}, (60, 300, 300, 320)),
        ("/Stamp", "Secret", {"/F": 2}, (60, 200, 300, 220)),
    ]
    notes = [
        {"/Subtype": kind, "/Rect": list(box), "/AP": {"/N": Appearance(words, 240, 20)}} | about
        for kind, words, about, box in shown
    ]
    text = read_pdf(
        make_pdf([[Text(60, 700, "The deed of sale."), Text(62, 304, "Draft")], [Text(60, 700, "Page two.")]], notes)
    ).text
    assert text.split("\n\n") == [
        "The deed of sale.",
        "Draft",
        "Stamp: Paid 3 May 1911",
        "Stamp: by I. Brandt",
        "Note: Clause 2 is void.",
        "Page two.",
    ]


def test_pages_without_text_are_counted_in_a_note() -> None:
    words, scan = [Text(60, 700, "The first page has words.")], "0.5 g 20 20 570 750 re f"
    assert read_pdf(make_pdf([words, [], []], drawings=["", scan, scan])).note == "2 of 3 pages have no text"
    assert read_pdf(make_pdf([words, []], drawings=["", scan])).note == "1 of 2 pages has no text"
    assert read_pdf(make_pdf([words, []])).note == "", "an empty page lacks nothing"
    headed = [[Text(60, 750, "The Parish of Senn"), *words], [Text(60, 750, "The Parish of Senn")]]
    assert read_pdf(make_pdf(headed, drawings=["", scan])).note == "1 of 2 pages has no text"


def test_letters_without_names_are_no_text() -> None:
    names = [*[33], *[f"/g{code}" for code in range(33, 127)]]
    coded = {
        "/Type": "/Font",
        "/Subtype": "/Type1",
        "/BaseFont": "/ABCDEF+Own",
        "/Encoding": {"/Type": "/Encoding", "/Differences": names},
    }
    with pytest.raises(SourceUnreadable, match="fonts do not say"):
        read_pdf(make_pdf([[Text(60, 700, "[ol {ylh{ ~hz zpnulk h{ ]lst vu {ol {opyk vm Th")]], font=coded))
    right_by_chance = Text(60, 700, "The treaty was signed at Orle on the third of May and it is in force.")
    assert "signed at Orle" in read_pdf(make_pdf([[right_by_chance]], font=coded)).text


def draw_font(named: str) -> dict[str, Any]:
    """A font whose every glyph is a box, but the code 3 is blank; only these of its codes have names."""
    codes = [1, 2, 3, *range(33, 127)]
    named_codes = "".join(f"<{ord(letter):02X}> <{ord(letter):04X}>\n" for letter in named)
    to_unicode = (
        f"begincmap 1 begincodespacerange <00> <FF> endcodespacerange {len(named)} beginbfchar\n{named_codes}endbfchar endcmap"
    )
    box, blank = b"500 0 0 0 450 700 d1 0 0 400 600 re f", b"500 0 d0"
    return {
        **{"/Type": "/Font", "/Subtype": "/Type3", "/FontBBox": [0, 0, 500, 700], "/FontMatrix": [0.001, 0, 0, 0.001, 0, 0]},
        **{"/FirstChar": 1, "/LastChar": 126, "/Widths": [500] * 126, "/Resources": {}, "/ToUnicode": to_unicode.encode()},
        "/Encoding": {"/Type": "/Encoding", "/Differences": [item for code in codes for item in (code, f"/x{code}")]},
        "/CharProcs": {f"/x{code}": blank if code == 3 else box for code in codes},
    }


def test_letters_that_a_font_does_not_name_are_marked_and_counted() -> None:
    words = Text(60, 700, "The\x03quay\x03of\x03Se\x01\x01\x03was\x03let\x03for\x03Z00\x03crow\x01s\x03by\x03Ida.")
    found = read_pdf(make_pdf([[words], [Text(60, 700, "To the end.")]], font=draw_font("Thequayofwsltrcbyd0I.nS")))
    assert found.text.startswith("The quay of Se\ufffd\ufffd was let for \ufffd00 crow\ufffds by Ida.")
    assert (
        found.note == "1 of 2 pages has some letters that their fonts do not name (at most 11% of a page): \ufffd stands for each"
    )


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("The long-/term loan of the well-/known banker", "The long-term loan of the well-known banker"),
        (
            "The com-/mittee found thirty-/seven state-of-the-/art looms",
            "The committee found thirty-seven state-of-the-art looms",
        ),
        ("A Zorblat-/tium was in the Zorblattium that is", "A Zorblattium was in the Zorblattium that is"),
        ("The co-/operation of the co-operation that is", "The co-operation of the co-operation that is"),
        ("Die Hafen-/und Zollgesetze, die der Nord-/Süd-Kanal mit", "Die Hafen- und Zollgesetze, die der Nord-Süd-Kanal mit"),
        ("Das Schiff-/fahrtsamt, das der Hafen nicht mit", "Das Schifffahrtsamt, das der Hafen nicht mit"),
        ("Dit-/elle dans la ville que les tra-/vaux", "Dit-elle dans la ville que les travaux"),
        ("Le sous-/préfet et les élus", "Le sous-préfet et les élus"),
        ("The ex-/minister of the X-/ray", "The ex-minister of the X-ray"),
        ("Of the years 1914-/18 and that is", "Of the years 1914-18 and that is"),
        ("Call 206–231–/3195 at night—/or by day –/as you like", "Call 206–231–3195 at night—or by day – as you like"),
    ],
)
def test_hyphenation_goes_and_hyphens_stay(written: str, read: str) -> None:
    assert read_pdf(make_pdf([lines(60, 700, *written.split("/"))])).text == read


def test_a_word_that_a_column_or_a_page_cuts_is_one() -> None:
    pages = [
        [*lines(60, 700, *LEFT[:3], "and for the har-"), *lines(320, 700, "bour that the other parish,", *RIGHT[1:3], "follow-")],
        lines(60, 700, "ing spring."),
    ]
    text = read_pdf(make_pdf(pages)).text
    assert "and for the harbour that the other parish" in text
    assert text.endswith("the flood of the following spring.")


def test_columns_are_read_one_after_the_other() -> None:
    three = [*lines(40, 600, *LEFT), *lines(215, 600, *RIGHT), *lines(390, 600, *LEFT)]
    page = [Text(150, 740, "Two ferries of the river Orle and what they cost the parish", 16), *three]
    whole = (" ".join(LEFT), " ".join(RIGHT))
    assert read_pdf(make_pdf([page])).text.split("\n\n")[1:] == [whole[0], whole[1], whole[0]]
    narrow = [*lines(60, 700, *LEFT, size=10), *lines(206, 700, *RIGHT, size=10)]
    assert read_pdf(make_pdf([narrow])).text.split("\n\n") == [*whole]
    apart = [*lines(40, 600, *LEFT), *lines(215, 595, *RIGHT), *lines(390, 591, *LEFT)]
    assert read_pdf(make_pdf([apart])).text.split("\n\n") == [whole[0], whole[1], whole[0]]
    shifted = [*lines(60, 700, *LEFT), *lines(320, 694, *RIGHT)]
    assert read_pdf(make_pdf([shifted])).text.split("\n\n") == [*whole]


def test_a_table_between_columns_keeps_its_rows() -> None:
    columns = [[*lines(60, y, *LEFT), *lines(320, y, *RIGHT)] for y in (740, 500)]
    rows = [("Year", "Passengers", "Cattle"), ("1888", "3,120", "410"), ("1889", "2,977", "388"), ("1890", "3,305", "402")]
    table = [
        Text(x, 640 - 14 * number, cell) for number, row in enumerate(rows) for x, cell in zip((100, 260, 400), row, strict=True)
    ]
    parts = read_pdf(make_pdf([[*columns[0], *table, *columns[1]]])).text.split("\n\n")
    assert parts[:2] == [" ".join(LEFT), " ".join(RIGHT)]
    assert parts[2].splitlines() == ["Year Passengers Cattle", "1888 3,120 410", "1889 2,977 388", "1890 3,305 402"]
    assert parts[3:] == [" ".join(LEFT), " ".join(RIGHT)]


@pytest.mark.parametrize(
    ("heads", "feet"),
    [
        (["PARISH OF SENN, REPORT OF 1888"] * 4, ["17", "18", "19", "20"]),
        (["18 Parish of Senn", "The ferry 19", "20 Parish of Senn", "The ferry 21"], [""] * 4),
        ([""] * 4, ["ix", "x", "xi", "xii"]),
        (["Ferries"] * 4, [f"Page {number} of 12" for number in (3, 4, 5, 6)]),
        ([""] * 4, [f"– {number} –" for number in (98, 99, 100, 101)]),
        ([""] * 4, ["A-1", "A-2", "B-1", "C-1"]),
        (["2-14 Ferries", "Parish of Senn 2-15", "2-16 Ferries", "Parish of Senn 3-1"], [""] * 4),
        (["18 Parish of Senn", "The ferry 19", "20 Parish of Senn", "The mill 21"], [""] * 4),
    ],
)
def test_what_repeats_at_the_edges_of_pages_goes(heads: list[str], feet: list[str]) -> None:
    bodies = [
        ("The council resolved that", "the toll of every cart"),
        ("and of each rider should be", "raised from two crowns"),
        ("to five, and that those of", "the parish who come"),
        ("on foot shall pay none",),
    ]
    pages = [
        [Text(60, 750, head), *lines(60, 700, *body), Text(300, 40, foot)]
        for head, body, foot in zip(heads, bodies, feet, strict=True)
    ]
    assert read_pdf(make_pdf(pages)).text == " ".join(line for body in bodies for line in body)


def test_counts_of_pages_close_to_the_text_go_and_long_feet_are_said_once() -> None:
    letter = ("Parish of Senn", "The quay 3", "Telephone 77 12", "Account 123 456")
    for foot, y in ((("{} / 12",), 672), ((*letter, "Seite {} von 12"), 90)):
        pages = [
            [*lines(60, 700, *body), *lines(60, y, *(line.format(7 + number) for line in foot), leading=12)]
            for number, body in enumerate([LEFT[:2], LEFT[2:], RIGHT[:2]])
        ]
        parts = read_pdf(make_pdf(pages)).text.split("\n\n")
        assert parts[0] == " ".join(LEFT)
        assert parts[-1] == " ".join(RIGHT[:2])
        assert parts[1:-1] == (["\n".join((*letter, "Seite 7 von 12"))] if len(foot) > 1 else [])


def test_a_head_that_stands_on_one_page_only_follows_its_text() -> None:
    heads = ["Tolls of 1888", "Repealed in 1912", "Tolls of 1888"]
    bodies = ["The council resolved that the toll", "of every cart and of each rider", "should be raised to five crowns."]
    pages = [[Text(60, 750, head, 9), Text(60, 700, body)] for head, body in zip(heads, bodies, strict=True)]
    assert read_pdf(make_pdf(pages)).text == f"{' '.join(bodies)}\n\nRepealed in 1912"


def test_what_only_looks_like_a_running_head_stays() -> None:
    pages = [
        [Text(60, 750, f"Accounts of {year}"), *lines(60, 700, f"The toll of {year} brought {sum_} crowns.")]
        for year, sum_ in ((1888, 310), (1889, 288))
    ]
    text = read_pdf(make_pdf(pages)).text
    assert "Accounts of 1888" in text
    assert "Accounts of 1889" in text


@pytest.mark.parametrize("size", [8.0, 11.0])
def test_footnotes_stand_after_the_paragraph_that_runs_on(size: float) -> None:
    first = [Text(60, 700, "The toll of every cart and of each"), Text(60, 80, "1 Repealed by the council in 1912.", size)]
    paragraphs = read_pdf(make_pdf([first, lines(60, 700, "rider was raised to five crowns.", "So it stayed.")])).text.split(
        "\n\n"
    )
    assert paragraphs == [
        "The toll of every cart and of each rider was raised to five crowns. So it stayed.",
        "1 Repealed by the council in 1912.",
    ]


def test_raised_numbers_join_no_others() -> None:
    raised = {"10": "6", "1951": "3", "toll": "4", "10 ": "-4"}
    for number, (before, mark) in enumerate(raised.items()):
        width = {"10": 12.3, "1951": 24.5, "toll": 14.1, "10 ": 12.3}[before]
        page = [Text(60, 700, before.strip()), Text(60 + width, 705, mark, 7), Text(60 + width + 8, 700, "of the sum")]
        expected = ["10^6 of the sum", "1951 of the sum", "toll of the sum", "10^-4 of the sum"][number]
        assert read_pdf(make_pdf([page])).text == expected


def test_titles_that_programs_invent_are_none() -> None:
    invented = [
        *(
            "Microsoft Word - Document1",
            "untitled",
            "Untitled-2",
            "PowerPoint Presentation",
            r"C:\Users\ida\lease.doc",
            "Slide 1",
        ),
        *(
            "lease_final.docx",
            "Dokument1",
            "file:///home/ida/a.odt",
            "Microsoft Word - Lease of 1951.doc",
            "(anonymous)",
            "scan0012",
        ),
        *("PowerPoint-Präsentation", "Présentation PowerPoint", "Presentación de PowerPoint", "Layout 1", "about:blank"),
        *("无标题", "演示文稿1", "Книга1", "名称未設定 2", "Scanned Document", "00a4f3e2-11aa-4bcd-9e01-1234567890ab"),
    ]
    assert {title: drop_invented_title(title) for title in invented} == dict.fromkeys(invented, "")
    true = [
        "Lease of the north quay",
        "Word and Object",
        "Untitled works of the 1920s",
        "On presentation",
        "Node.js in action",
        "TCP/IP networks",
        "1984 and after",
        "Document de travail sur le quai",
        "Presentación de cuentas",
    ]
    assert list(map(drop_invented_title, true)) == true
    assert (drop_invented_author("Admin"), drop_invented_author("Ida Adminski")) == ("", "Ida Adminski")
    assert read_pdf(make_pdf([[Text(60, 700, "A lease.")]], title="Microsoft Word - Document1")).title == ""
