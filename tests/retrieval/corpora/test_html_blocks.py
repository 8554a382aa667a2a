"""Text that stands beside a block of a page is read as a paragraph of its own."""

import pytest

from retrieval.corpora.html import read_html
from retrieval.fetch.readable import read_content

FILLER = "".join(f"<p>{n} words stand here, so that the page has a main text, as the extraction wants.</p>" for n in range(12))


def read_texts(between: str) -> tuple[str, str]:
    """Read a page as a file and as one of the web."""
    page = f"<html><body><article>{FILLER}{between}<p>So it ends here.</p></article></body></html>".encode()
    return read_html(page).text, read_content(page, "text/html").text


@pytest.mark.parametrize(
    "between",
    [
        "<div>anarchy and finally<div>to barbarism</div></div>",
        "<div><p>anarchy and finally</p>to barbarism</div>",
        "<section>anarchy and <b>finally</b><h2>to barbarism</h2></section>",
    ],
)
def test_words_on_both_sides_of_the_edge_of_a_block_are_kept_apart(between: str) -> None:
    for text in read_texts(between):
        assert [line for line in text.split("\n") if "anarchy" in line or "barbarism" in line] == [
            "anarchy and finally",
            "to barbarism",
        ]


def test_code_stays_as_it_is() -> None:
    for text in read_texts("<pre>if a:\n    <div>b()</div></pre>"):
        assert "if a:\n    b()" in text


def test_a_cell_of_a_table_that_spans_others_stands_in_each_of_them() -> None:
    rows = (
        "<td colspan=3>Tolls of the quay</td>",
        "<th rowspan=2>Year</th><th colspan=2>Ships</th>",
        "<th>in</th><th>out</th>",
        "<td rowspan=2>1950</td><td>3</td><td>4</td>",
        "<td>5</td><td>6</td>",
    )
    for text in read_texts(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"):
        lines = [" ".join(line.replace("|", " ").split()) for line in text.split("\n") if line.strip("|- ")]
        assert lines[lines.index("Year Ships Ships") :][:4] == ["Year Ships Ships", "Year in out", "1950 3 4", "1950 5 6"]
        assert "Tolls of the quay" in lines


def test_lists_and_blocks_of_links_in_cells_are_read() -> None:
    rows = (
        "<tr><th>Founders</th><td><ul><li><a href='/i'>Ida Brandt</a></li><li><a href='/b'>Bo Lind</a></li></ul></td></tr>"
        "<tr><th>Seat</th><td><a href='/q'>The quay</a>, <div><a href='/s'>Senn</a></div></td></tr>"
        "<tr><th><div><a href='/t'>Toll</a></div></th><td><span>5 crowns</span> (1951)</td></tr>"
    )
    page = f"<html><body><article><h1>The ferry</h1><table>{rows}</table>{FILLER}</article></body></html>"
    found = read_html(page.encode()).text
    assert "Founders | Ida Brandt; Bo Lind" in found
    assert "Seat | The quay, Senn" in found
    assert "Toll | 5 crowns (1951)" in found


def test_a_paragraph_of_several_lines_in_the_file_is_one() -> None:
    between = "<p>The <i>toll</i> of\nevery cart\nis 5 crowns.</p>\n<pre>one\n  two</pre><p>Of riders\nit is two.</p>"
    texts = read_html(f"<html><body>{FILLER}{between}{FILLER}</body></html>".encode()).text.split("\n\n")
    assert texts[12:15] == ["The toll of every cart is 5 crowns.", "one\n  two", "Of riders it is two."]
