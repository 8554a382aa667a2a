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
