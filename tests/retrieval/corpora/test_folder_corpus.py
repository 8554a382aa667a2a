import os
from datetime import timedelta
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, NumberObject

from app.domain.errors import InvalidInput
from app.domain.evidence import snapshot_hash
from retrieval.corpora.documents import MAX_BYTES, FolderCorpus
from retrieval.corpora.ports import UnreadableItem
from retrieval.ports import Document


def read(folder: Path) -> tuple[dict[str, Document], dict[str, str]]:
    items = list(FolderCorpus(folder).read_documents())
    documents = {item.source.url: item for item in items if isinstance(item, Document)}
    return documents, {item.path: item.reason for item in items if isinstance(item, UnreadableItem)}


def one(folder: Path) -> Document:
    documents, failed = read(folder)
    assert failed == {}
    (document,) = documents.values()
    return document


def write_pdf(path: Path, pages: list[str], password: str = "") -> None:
    writer = PdfWriter()
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")})
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    joined = ArrayObject([NumberObject(1), *map(NameObject, ("/fi", "/ffi"))])  # as typesetters number them
    font[NameObject("/Encoding")] = DictionaryObject({NameObject("/Differences"): joined})
    for text in pages:
        page = writer.add_blank_page(width=600, height=800)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})})
        stream = DecodedStreamObject()
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in text.split("\n"))
        stream.set_data(f"BT /F1 12 Tf 50 700 Td {lines} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    writer.write(path)


def test_addresses_are_stable_and_silent_about_the_machine(notes: Path) -> None:
    documents, failed = read(notes)
    assert list(documents) == ["file:///notes/canal.txt", "file:///notes/tariff.md", "file:///notes/%E5%8C%97%E4%BA%AC.txt"]
    assert failed == {}
    assert not any(str(notes) in document.model_dump_json() for document in documents.values())


def test_the_mark_of_an_item_without_words_goes_to_no_other_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("-     make report\n\nThat is all.\n")
    assert one(tmp_path).text.endswith("make report\n\nThat is all.")


def test_markdown_loses_its_markup_and_gives_its_title(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "---\nauthor: Ida Tarbell\ndate: 1904-11-01\n---\n# The *Oil* War\n\nA [link](http://x.example) and `code`,\nwrapped.\n\n"
        "- one\n- two\n\n3. three\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    document = one(tmp_path)
    assert document.text == "The Oil War\n\nA link and code,\nwrapped.\n\n- one\n\n- two\n\n3. three\n\na | b\n\n1 | 2"
    assert (document.source.title, document.source.author, str(document.source.published)) == (
        "The Oil War",
        "Ida Tarbell",
        "1904-11-01",
    )


def test_files_command_nothing_and_turn_no_direction(tmp_path: Path) -> None:
    hebrew = "\u05d4\u05de\u05db\u05e1 \u05e9\u05dc 1890\u200f (ISO\u200e 8601)."
    (tmp_path / "a.txt").write_text("One\x1b[2J line.\n" + f"\u202eTwo.\u2028\u202b{hebrew}\u202c\n" * 60)
    (tmp_path / "b.md").write_text(f"---\nauthor: I\u202eda\n---\n# T\u2066itle\n\n{hebrew}\x07\n")
    documents, _ = read(tmp_path)
    text, markdown = documents.values()
    assert text.text == "\n".join(["One[2J line.", *[f"Two.\n{hebrew}"] * 60])
    assert (markdown.source.title, markdown.source.author) == ("Title", "Ida")
    assert markdown.text.endswith(hebrew)
    assert all(document.source.snapshot == snapshot_hash(document.text) for document in documents.values())


def test_html_in_markdown_is_read_as_a_browser_shows_it(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "Before.<br>After <b>bold</b>.\n\n<p>A sentence\nwraps.</p>\n\n<!-- a comment alone -->\n\n<script>evil()</script>\n\n"
        "<table><tr><th>Year</th><th>Duty</th></tr><tr><td>1890</td><td>49%</td></tr></table>\n\n"
        "<details><summary>More</summary>It fell<ul><li>in 1894<li>in 1913</ul>\n\nAnd *rose*.\n\n</details>\n\n"
        "| a | b |\n|---|---|\n| 1<br/>2 | 3 |\n"
    )
    assert one(tmp_path).text.split("\n\n") == [
        "Before.\nAfter bold.",
        "A sentence wraps.",
        "Year | Duty",
        "1890 | 49%",
        "More",
        "It fell",
        "in 1894",
        "in 1913",
        "And rose.",
        "a | b",
        "1 2 | 3",
    ]


def test_html_keeps_the_text_and_leaves_the_rest(tmp_path: Path) -> None:
    paragraphs = "".join(f"<p>Paragraph {i} tells of the rainfall in the valley and of its bridges.</p>" for i in range(8))
    (tmp_path / "page.html").write_text(
        f"<html><head><title>Rain</title><script>alert('no')</script></head><body><nav>Home</nav><article>{paragraphs}</article></body></html>"
    )
    (tmp_path / "tiny.htm").write_text("<title>Tiny</title><p>Only this.</p><script>evil()</script>")
    documents, failed = read(tmp_path)
    page = documents[f"file:///{tmp_path.name}/page.html"]
    assert failed == {}
    assert page.source.title == "Rain"
    assert "Paragraph 7 tells of the rainfall" in page.text
    assert "alert" not in page.text
    tiny = documents[f"file:///{tmp_path.name}/tiny.htm"]
    assert (tiny.source.title, "evil" in tiny.text, "Only this." in tiny.text) == ("Tiny", False, True)


SAYS = "<p>The script copies the databases of the wiki into the folder of the day.</p>" * 9


@pytest.mark.parametrize("around", [SAYS, ""])
def test_code_in_html_keeps_its_lines(tmp_path: Path, around: str) -> None:
    code = 'def backup(path):\n    for name in path.iterdir():\n        copy(name)\n\n    return "done"'
    marked = code.replace("def", "<b>def</b>").replace("return", "<b>return</b>")
    (tmp_path / "a.html").write_text(
        f"<html><body><article>{around}<pre><code>{marked}\n</code></pre>{around}</article></body></html>"
    )
    assert code in one(tmp_path).text


@pytest.mark.parametrize(
    "mentioned",
    [
        "The great fire of 12 March 1997 burnt the mill.",
        "The lease ends on 2019-08-31.",
        "The meeting takes place on 14 September 2025.",
        "In 2003 the town built a mill.",
        '<a href="/2012/05/07/post">An earlier post</a>',
        "© 2015 Allotment Society",
    ],
)
def test_a_date_that_an_html_file_mentions_is_not_its_own(tmp_path: Path, mentioned: str) -> None:
    (tmp_path / "a.html").write_text(f"<html><body><article>{SAYS}<p>{mentioned}</p></article></body></html>")
    assert one(tmp_path).source.published is None


@pytest.mark.parametrize(
    "stated",
    [
        '<meta property="article:published_time" content="2011-03-04T10:00:00Z">',
        '<script type="application/ld+json">{"@type": "Article", "datePublished": "2011-03-04"}</script>',
        '<p>By Ida, <time datetime="2011-03-04">4 March</time> (the lease ends on 2019-08-31)</p>',
    ],
)
def test_a_date_that_an_html_file_states_is_its_own(tmp_path: Path, stated: str) -> None:
    (tmp_path / "a.html").write_text(f"<html><body><article>{stated}{SAYS}</article></body></html>")
    assert str(one(tmp_path).source.published) == "2011-03-04"


def test_pdf_lines_become_paragraphs(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf", ["The committee exam-\nined the accounts and\nfound them in order.", "Second page here."])
    document = one(tmp_path)
    assert "The committee examined the accounts and found them in order." in document.text
    assert document.text.endswith("Second page here.")


def test_letters_that_a_page_joins_are_spelled_out(tmp_path: Path) -> None:
    write_pdf(tmp_path / "a.pdf", ["The \\001rst o\\002cial coe\\002cients were set in 1890."])
    assert one(tmp_path).text == "The first official coefficients were set in 1890."


def test_a_pdf_of_five_hundred_pages_is_read_whole(tmp_path: Path) -> None:
    write_pdf(tmp_path / "long.pdf", [f"Page {n} tells of wool." for n in range(1, 501)])
    document = one(tmp_path)
    assert document.text.startswith("Page 1 tells of wool.")
    assert document.text.endswith("Page 500 tells of wool.")


def test_a_late_or_damaged_letter_costs_no_other(tmp_path: Path) -> None:
    english = "The tariff of 1890 raised duties. " * 2_500
    (tmp_path / "cut.txt").write_bytes((english + "café, “naïve”").encode()[:-1])
    (tmp_path / "hit.txt").write_bytes((english + "café ").encode() + b"\xff" + " über alles".encode())
    (tmp_path / "late.txt").write_bytes(
        (english + "Die Zölle stiegen für fünf Jahre, die Löhne blieben gleich.").encode("cp1252")
    )
    (tmp_path / "short.txt").write_bytes("café naïve é".encode()[:-1])
    texts = {d.source.title: d.text for d in FolderCorpus(tmp_path).read_documents() if isinstance(d, Document)}
    assert texts["cut"].endswith("café, “naïve\ufffd")
    assert texts["hit"].endswith("café \ufffd über alles")
    assert texts["late"].endswith("Zölle stiegen für fünf Jahre, die Löhne blieben gleich.")
    assert texts["short"] == "café naïve \ufffd"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8-sig", "Zürich paid 500 francs."),
        ("utf-16", "Zürich paid 500 francs."),
        ("cp1252", "The “façade” of the café in Besançon was repainted in the year 1912, they said."),
        ("latin-1", "Voilà ce que j'ai appris: le garçon a mangé une crêpe."),
        ("latin-1", "A população não está satisfeita com a eleição."),
        ("latin-1", "1998;Éric;Orléans;Liège"),
        ("mac_roman", "Der König öffnete die Tür: “Grüß Gott”, sagte er."),
        ("cp1252", "That’s all."),
        ("iso8859-2", "Zażółć gęślą jaźń. Prezydent powiedział, że pieniądze są w banku."),
        ("cp1250", "Příliš žluťoučký kůň úpěl. Prezident řekl, že vláda není připravena."),
        ("cp1254", "Başkan, hükümetin görüşmelere hazır olduğunu söyledi."),
        ("cp1251", "Президент сказал, что правительство готово к переговорам."),
        ("koi8-r", "Президент сказал, что правительство готово к переговорам."),
        ("cp1253", "Ο πρόεδρος είπε ότι η κυβέρνηση είναι έτοιμη."),
        ("shift_jis", "大統領は政府が交渉の準備ができていると言った。これはずっと前のことです。"),
        ("gb18030", "北京是中国的首都，故宫位于北京市中心，始建于明朝，是世界上现存规模最大的宫殿建筑群之一。"),
    ],
)
def test_encodings_are_detected(tmp_path: Path, encoding: str, text: str) -> None:
    (tmp_path / "a.txt").write_bytes((text + "\r\nSecond line.").encode(encoding))
    assert one(tmp_path).text == text + "\nSecond line."


def test_what_cannot_be_read_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "good.txt").write_text("All is well here.")
    (folder / ".hidden.txt").write_text("Not to be read.")
    (folder / "empty.txt").write_text(" \n ")
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 40)
    (folder / "sheet.xlsx").write_bytes(b"PK")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnonsense")
    (folder / "scan.pdf").write_bytes(b"")
    write_pdf(folder / "locked.pdf", ["A secret."], password="s3cret")
    write_pdf(folder / "blank.pdf", [""])
    with (folder / "huge.txt").open("wb") as huge:
        huge.truncate(MAX_BYTES + 1)
    os.mkfifo(folder / "pipe.txt")
    (tmp_path / "outside.txt").write_text("Outside.")
    (folder / "way-out.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    documents, failed = read(folder)
    assert list(documents) == ["file:///docs/deep/good.txt"]
    expected = {
        "empty.txt": "empty",
        "binary.txt": "not text",
        "sheet.xlsx": "damaged",
        "photo.jpg": "kind that is not read",
        "broken.pdf": "damaged",
        "scan.pdf": "damaged",
        "locked.pdf": "encrypted",
        "blank.pdf": "no text",
        "huge.txt": "too large",
        "pipe.txt": "not a file",
        "way-out.txt": "leads out of the folder",
        "loop": "link",
    }
    assert failed.keys() == expected.keys()
    for path, reason in expected.items():
        assert reason in failed[path]


def test_names_that_are_not_utf8_are_shown_as_far_as_they_can_be(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    for name in (b"na\xefve.txt", b"vid.\xe9o"):
        with open(folder + b"/" + name, "wb") as file:
            file.write(b"All is well here.")
    documents, failed = read(tmp_path)
    (document,) = documents.values()
    assert document.source.url == f"file:///{tmp_path.name}/caf%E9/na%EFve.txt"
    assert document.source.title == "na\ufffdve"
    assert failed.keys() == {"caf\ufffd/vid.\ufffdo"}
    assert "(.\ufffdo)" in failed["caf\ufffd/vid.\ufffdo"]
    assert read(Path(os.fsdecode(folder)))[0].keys() == {"file:///caf%E9/na%EFve.txt"}


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="not a folder"):
        FolderCorpus(tmp_path / "nowhere")


def test_a_file_that_its_reader_does_not_survive_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>No reader starts this fast.")
    (tmp_path / "b.txt").write_text("All is well here.")
    (tmp_path / "c.html").write_text("<p>Nor this one.")
    items = list(FolderCorpus(tmp_path, limit=timedelta(seconds=0.01)).read_documents())
    assert [item.text for item in items if isinstance(item, Document)] == ["All is well here."]
    failed = {item.path: item.reason for item in items if isinstance(item, UnreadableItem)}
    assert failed == dict.fromkeys(
        ("a.html", "c.html"), "could not be read: it takes too long or too much memory, or breaks its reader"
    )
