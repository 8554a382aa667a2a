"""Readers tell what each stretch of a text is and what it stands under, and a PDF's on which page."""

import io

import docx
import pytest

from app.domain.blocks import BlockKind
from app.domain.evidence import Source, snapshot_hash
from retrieval.corpora.documents import read_content
from retrieval.corpora.marks import mark, take_marks
from retrieval.ports import Document, cut_passage
from tests.retrieval.corpora.pdf_pages import lines, make_pdf

MANUAL = """# Ferry manual

## Fares

| Boat | Fare |
|------|------|
| Tub | 4 |

- Dogs go free.
- Carts pay double.

```
ferry --stop

ferry --start
```

## Crew
Two men row it.
"""
PAGE = (
    "<html><body><main><h1>Ferry manual</h1><p>The ferry crosses the Orle at every hour of the day.</p><h2>Fares</h2>"
    "<ul><li>Dogs go free of charge on all boats.</li></ul><table><tr><th>Boat</th><th>Fare</th></tr><tr><td>Tub</td><td>4</td>"
    "</tr></table></main></body></html>"
)


def tell(suffix: str, content: bytes) -> list[tuple[str, str, str]]:
    """Return the kind of each block, its text, and the text of what it stands under."""
    found = read_content(suffix, content)
    ends = {block.start: block.end for block in found.blocks}
    return [
        (str(kind), found.text[start:end], "" if under is None else found.text[under : ends[under]])
        for kind, start, end, under, *_ in found.blocks
    ]


def make_word() -> bytes:
    document = docx.Document()
    document.add_heading("Ferry manual", 1)
    document.add_heading("Fares", 2)
    document.add_paragraph("Dogs go free.", style="List Bullet")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ["Boat", "Fare", "Tub", "4"], strict=True):
        cell.text = text
    written = io.BytesIO()
    document.save(written)
    return written.getvalue()


def test_markdown_tells_headings_heads_rows_items_and_code() -> None:
    assert tell(".md", MANUAL.encode()) == [
        ("heading", "Ferry manual", ""),
        ("heading", "Fares", "Ferry manual"),
        ("head", "Boat | Fare", "Fares"),
        ("row", "Tub | 4", "Boat | Fare"),
        ("item", "Dogs go free.", "Fares"),
        ("item", "Carts pay double.", "Fares"),
        ("code", "ferry --stop", "Fares"),
        ("code", "ferry --start", "Fares"),
        ("heading", "Crew", "Ferry manual"),
        ("paragraph", "Two men row it.", "Crew"),
    ]


@pytest.mark.parametrize(("suffix", "content"), [(".docx", make_word()), (".html", PAGE.encode())])
def test_word_and_pages_tell_the_same(suffix: str, content: bytes) -> None:
    told = [(kind, text, under) for kind, text, under in tell(suffix, content) if kind != "paragraph"]
    assert told[:2] == [("heading", "Ferry manual", ""), ("heading", "Fares", "Ferry manual")]
    assert [kind for kind, _, _ in told[-2:]] == ["head", "row"]
    assert told[-1][2] == told[-2][1], "a row stands under its head"
    assert [text.split(".")[0].split(" of ")[0] for kind, text, _ in told if kind == "item"] == ["Dogs go free"]


def test_a_quotation_of_a_pdf_has_the_page_on_which_it_begins() -> None:
    first = lines(72, 700, "The board met in June and resolved that the toll on every", "vessel above forty tons should be")
    second = lines(
        72, 700, "raised from two crowns to five crowns. The money", "goes to the repair of the crane on the north quay."
    )
    found = read_content(".pdf", make_pdf([first, second]))
    assert "should be raised" in found.text
    source = Source(url="file:///f/toll.pdf", title="Toll", snapshot=snapshot_hash(found.text))
    passage = cut_passage(Document(source=source, text=found.text, blocks=found.blocks), 0, len(found.text))
    pages = [passage.make_quote(at := found.text.index(words), at + 9).page for words in ("The board", "raised", "The money")]
    assert pages == [1, 2, 2]


def test_the_marks_of_a_text_are_gone_and_its_blocks_are_where_they_were() -> None:
    text, blocks = take_marks(
        f"\n{mark(BlockKind.HEADING, 'Fares', 1)}\n\n{mark(BlockKind.ITEM, '- free')} {mark(BlockKind.ROW, 'x')}"
    )
    assert text == "Fares\n\n- free x"
    assert [(block.kind, text[block.start : block.end]) for block in blocks] == [("heading", "Fares"), ("item", "free x")]


def test_a_passage_comes_with_the_headings_before_it_that_it_stands_under() -> None:
    found = read_content(".md", MANUAL.encode())
    source = Source(url="file:///f/manual.md", title="Manual", snapshot=snapshot_hash(found.text))
    start = found.text.index("Dogs")
    passage = cut_passage(Document(source=source, text=found.text, blocks=found.blocks), start, start + 13)
    assert [(block.kind, block.text) for block in passage.blocks] == [
        ("heading", "Ferry manual"),
        ("heading", "Fares"),
        ("item", ""),
    ]
