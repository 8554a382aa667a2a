"""Powers, marks of notes, struck and hidden text and formulas, in HTML files and in books: numbers keep their value."""

import io
import zipfile

import pytest

from retrieval.corpora.epub import read_epub
from retrieval.corpora.html import read_html

FILLER = "<p>The harbour board met in the old hall, heard the engineer and wrote to the council of the town.</p>" * 3
CASES = [
    ("10<sup>6</sup> cells, 3 x 10<sup>-4</sup> g and 10<b><sup>9</sup></b> more", "10^6 cells, 3 x 10^-4 g and 10^9 more"),
    ("<a href='/p'>10<sup>6</sup></a> cells in 2<sup>32</sup> places", "10^6 cells in 2^32 places"),
    ("10<span style='vertical-align: super; color: red'>6</span> cells", "10^6 cells"),
    ("40 m<sup>2</sup>, 9 s<sup>-1</sup>, the 1<sup>st</sup> of H<sub>2</sub>O", "40 m^2, 9 s^-1, the 1st of H2O"),
    ("7<sup>2</sup> = 49 and (a + 1)<sup>2</sup> and 10<sub>2</sub>", "7^2 = 49 and (a + 1)^2 and 10_2"),
    ("in 1951<sup><a href='#fn3'>3</a></sup> and 1960<a href='n.xhtml#n4'><sup>4</sup></a> it rose", "in 1951 and 1960 it rose"),
    ("in 1951<sup class='footnote-ref'>3</sup> by 5<a role='doc-noteref' href='#a'>12</a> percent", "in 1951 by 5 percent"),
    ("by 5<sup>3</sup> percent in 1951<sup>[4]</sup>, to 900<sup>*</sup> crowns", "by 5[3] percent in 1951, to 900 crowns"),
    (
        "by 7<sup>1)</sup> percent in 1951<sup>b,c</sup>, the 1<sup>er</sup> of 3<sup>a</sup>",
        "by 7 percent in 1951, the 1er of 3a",
    ),
    ("in 1951<a class='footnote-ref' href='#n2'>2</a> it rose", "in 1951 it rose"),
    ("it was 5%<sup>7</sup> of 40 (ships)<sup>8</sup> and x<sup>2</sup>", "it was 5% of 40 (ships) and x^2"),
    ("the board<sup>12</sup> met.<sup>3</sup> It left", "the board[12] met. It left"),
    ("is <s>seven</s><del>six</del><span style='text-decoration: line-through'>nine</span> five crowns", "is five crowns"),
    ("is <span style='display:none'>seven</span><span hidden>nine</span> five crowns", "is five crowns"),
    ("<math><mroot><mi>x</mi><mn>3</mn></mroot><mo>=</mo><mfrac><mn>48</mn><mn>7</mn></mfrac></math> crowns", "∛x=48/7 crowns"),
]


def make_book(body: str, sheet: str = "") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as book:
        book.writestr("x/a b.css", sheet)
        book.writestr("META-INF/container.xml", '<c xmlns="c"><rootfile full-path="b.opf"/></c>')
        book.writestr(
            "b.opf",
            '<package xmlns="o"><manifest><item id="a" href="a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>',
        )
        chapter = f"<html xmlns='http://www.w3.org/1999/xhtml'><head><title/></head><body>{body}</body></html>"
        book.writestr("a.xhtml", f'<?xml version="1.0"?><!-- made by hand -->{chapter}')
    return content.getvalue()


@pytest.mark.parametrize(("written", "seen"), CASES)
def test_a_file_and_a_book_are_read_alike(written: str, seen: str) -> None:
    body = f"<p>It was {written}.</p>{FILLER}"
    for text in (
        read_html(f"<html><body><article>{body}</article></body></html>".encode()).text,
        read_epub(make_book(body)).text,
    ):
        assert f"It was {seen}." in " ".join(text.split())


def test_what_the_style_sheet_of_a_chapter_says_is_read() -> None:
    sheet = "span.up, .x .high { font-size: 70%; vertical-align: super } .old{text-decoration:line-through} .no{display:none}"
    gone = "<span class='old'>seven</span> <span class='no'>six</span>"
    body = f"<p>It has 10<span class='calibre up'>6</span> cells at {gone} five.</p>"
    linked = f"<link rel='stylesheet' type='text/css' href='x/a%20b.css'/>{body}"
    for text in (read_epub(make_book(linked, sheet)).text, read_epub(make_book(f"<style>{sheet}</style>{body}")).text):
        assert text == "It has 10^6 cells at five."


def test_the_number_of_a_note_stays_before_the_note() -> None:
    note = "<li id='fn3'><sup><a href='#r3'>3</a></sup>Except on Sundays.</li>"
    assert "3 Except on Sundays." in read_epub(make_book(f"{FILLER}<ul>{note}</ul>")).text


def test_numbered_items_have_the_numbers_that_a_browser_shows() -> None:
    inner = "<ol type='a'><li>Or later.</li></ol>"
    clauses = f"<li>The rent is 900.</li><li value='9'><p>It ends in 1999.</p>{inner}</li><li>Ten.</li>"
    body = f"<ol start='4'>{clauses}</ol><ol reversed type='I'><li>(II) Old.</li><li>New.</li></ol>"
    body += "<ol style='list-style: none'><li>Bare.</li></ol><ul><li>A mark.</li></ul>"
    page = read_html(f"<html><body><article>{FILLER}{body}{FILLER}</article></body></html>".encode()).text.split("\n\n")
    seen = ["4. The rent is 900.", "9. It ends in 1999.", "a. Or later.", "10. Ten.", "(II) Old.", "I. New."]
    assert [line.removeprefix("- ") for line in page if "harbour" not in line] == [*seen, "Bare.", "A mark."]
    assert [line for line in page if line in seen[:4]] == seen[:4]
    assert read_epub(make_book(body)).text.split("\n\n")[: len(seen)] == seen
