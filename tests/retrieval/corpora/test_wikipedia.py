"""Reading Wikipedia's dumps."""

import bz2
import os
import tracemalloc
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from app.domain.errors import InvalidInput
from app.domain.evidence import snapshot_hash
from retrieval.corpora.marks import drop_marks
from retrieval.corpora.ports import UnreadableItem
from retrieval.corpora.wikipedia import WikipediaDump
from retrieval.corpora.wikitext import readable_text_of
from retrieval.ports import Document

HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">\n<siteinfo>'
    "<sitename>Wikipedia</sitename><base>https://en.wikipedia.org/wiki/Main_Page</base></siteinfo>\n"
)
TAIL = "</mediawiki>\n"
RURITANIA = """{{Infobox country|name=Ruritania|population={{formatnum:12345}}}}
[[File:flag.png|thumb|The [[flag]] of it]]
'''Ruritania''' ({{IPA|x}}; {{lang|de|Ruritanien}}) is a ''fictional'' [[country]] in [[Central Europe|the middle of \
Europe]].<ref name="a">{{cite book|title=Zenda}}</ref> It covers {{convert|500|km2|sqmi}}&nbsp;&ndash; a \
[[size#of|county]].<!-- hidden -->

== History ==
The kingdom was founded in 1250{{citation needed|date=May 2020}} and fell in 1918.
=== Kings ===
* [[Rudolf I]] (1250–1290)
* Otto
{| class="wikitable"
! Year !! King
|-
| 1250 || [[Rudolf I]]
|-
| 1300 || style="x" | Otto
|}
== References ==
{{reflist}}
* [http://example.org A book]
[[Category:Fictional countries]]
"""


def page(title: str, text: str, namespace: int = 0, redirect: str = "") -> str:
    target = f'<redirect title="{redirect}" />' if redirect else ""
    return (
        f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>7</id>{target}<revision><id>1</id>"
        f"<timestamp>2024-03-05T10:00:00Z</timestamp><text xml:space='preserve'>{escape(text)}</text></revision></page>\n"
    )


def read(path: Path, skip: int = 0) -> tuple[list[Document], list[UnreadableItem]]:
    items = list(WikipediaDump(path).read_documents(skip))
    return [i for i in items if isinstance(i, Document)], [i for i in items if isinstance(i, UnreadableItem)]


def test_an_article_becomes_prose_with_headings_lists_and_rows() -> None:
    assert drop_marks(readable_text_of(RURITANIA)).split("\n\n") == [
        "Ruritania (Ruritanien) is a fictional country in the middle of Europe. It covers 500 km2 – a county.",
        "History",
        "The kingdom was founded in 1250 and fell in 1918.",
        "Kings",
        "Rudolf I (1250–1290)",
        "Otto",
        "Year | King",
        "1250 | Rudolf I",
        "1300 | Otto",
    ]


@pytest.mark.parametrize(
    ("wikitext", "shown"),
    [
        ("[[CSI: Miami]] and [[:Category:Films|films]]", "CSI: Miami and films"),
        ("Text.\n[[fr:Titre]]\n[[zh-yue:題]]\n[[分类:国家]]", "Text."),
        ("-{zh-hans:计算机;zh-hant:電腦}-在-{A|中国}-", "计算机在中国"),
        ("{{nihongo|Tokyo|東京|Tōkyō}} is {{abbr|approx.|approximately}} old", "Tokyo is approx. old"),
        ("== 参考文献 ==\nX\n== 历史 ==\nY", "历史\n\nY"),
    ],
)
def test_links_templates_and_scripts(wikitext: str, shown: str) -> None:
    assert drop_marks(readable_text_of(wikitext)) == shown


@pytest.mark.parametrize(
    "wikitext",
    ["{{" * 400 + "x", "[[" * 2_000, "{|" * 300, "<ref>" * 500, "'''''" * 999, "\x1f{{{a|b", "==" * 9, "&#xd800;&#999999999;"],
)
def test_broken_wikitext_is_survived(wikitext: str) -> None:
    assert snapshot_hash(readable_text_of(f"Prose here. {wikitext}"))


@pytest.mark.parametrize("multistream", [False, True])
def test_a_dump_gives_articles_only(tmp_path: Path, multistream: bool) -> None:
    pages = [
        page("Ruritania", RURITANIA),
        page("Ruritanien", "#REDIRECT [[Ruritania]]", redirect="Ruritania"),
        page("Talk:Ruritania", "Chatter.", namespace=1),
        page("Zenda (castle)", "A castle in [[Ruritania]]."),
        page("Nothing", "{{infobox}}"),
    ]
    streams = [HEAD, "".join(pages[:2]), "".join(pages[2:]), TAIL] if multistream else [HEAD + "".join(pages) + TAIL]
    path = tmp_path / "enwiki-latest-pages-articles.xml.bz2"
    path.write_bytes(b"".join(bz2.compress(stream.encode()) for stream in streams))
    documents, unreadable = read(path)
    assert [document.source.url for document in documents] == [
        "https://en.wikipedia.org/wiki/Ruritania",
        "https://en.wikipedia.org/wiki/Zenda_(castle)",
    ]
    castle = documents[1]
    assert (castle.text, castle.source.title, str(castle.source.published)) == (
        "A castle in Ruritania.",
        "Zenda (castle)",
        "2024-03-05",
    )
    assert castle.source.licence.startswith("CC BY-SA")
    assert castle.source.snapshot == snapshot_hash(castle.text)
    assert [(entry.path, "no text" in entry.reason) for entry in unreadable] == [("Nothing", True)]
    assert read(path, skip=1)[0] == [castle]
    older = next(iter(WikipediaDump(path, "CC BY-SA 3.0").read_documents()))
    assert isinstance(older, Document)
    assert older.source.licence == "CC BY-SA 3.0"


def test_a_dump_in_parts_is_read_in_the_order_of_its_parts(tmp_path: Path) -> None:
    for number in (10, 9, 1):
        content = HEAD + page(f"Part {number}", f"Text of part {number}.") + TAIL
        (tmp_path / f"enwiki-pages-articles{number}.xml-p1p2.xml").write_text(content)
    assert [document.source.title for document in read(tmp_path)[0]] == ["Part 1", "Part 9", "Part 10"]


def test_a_dump_that_is_cut_off_gives_what_it_has_and_says_so(tmp_path: Path) -> None:
    pages = "".join(page(f"Article {n}", f"Text number {n}. {os.urandom(400).hex()}") for n in range(2_000))
    whole = bz2.compress((HEAD + pages + TAIL).encode(), 1)
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(whole[: len(whole) // 2])
    documents, unreadable = read(path)
    assert 100 < len(documents) < 2_000
    assert "cut off or damaged after the article" in unreadable[0].reason


def test_entities_are_neither_expanded_nor_fetched(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    doctype = f'<!DOCTYPE mediawiki [<!ENTITY l0 "ha">{levels}<!ENTITY out SYSTEM "file://{tmp_path}/secret.txt">]>'
    bomb = page("Bomb", "Before BOMB after.").replace("BOMB", "&l9; &out;")
    path = tmp_path / "dump.xml"
    path.write_text(doctype + HEAD + bomb + TAIL)
    documents, unreadable = read(path)
    shown = " ".join(document.text for document in documents)
    assert "secret" not in shown
    assert "haha" not in shown
    assert len(documents) + len(unreadable) == 1


def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    path = tmp_path / "dump.xml"
    with path.open("w") as file:
        file.write(HEAD)
        for n in range(3_000):
            file.write(page(f"Article {n}", f"Text {n} " * 1_500, namespace=n % 50))
        file.write(TAIL)
    assert path.stat().st_size > 30_000_000
    tracemalloc.start()
    count = sum(1 for _ in WikipediaDump(path).read_documents())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 60
    assert peak < 8_000_000


def test_no_dump_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"\.xml"):
        WikipediaDump(tmp_path)
