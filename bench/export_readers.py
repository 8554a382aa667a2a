"""Reads each export with an independent reader: its words, its links, and what its numbers lead to."""

import json as json_reader
import re
import unicodedata
import zipfile
from collections.abc import Iterable
from io import BytesIO
from typing import Any, NamedTuple
from xml.etree import ElementTree

from app.exports.service.pandoc import run_pandoc

STRAIGHT = "\x01"
DOUBLE_MARKS = str.maketrans("‘’", "“”")
NUMBER = re.compile(r"\[(\d+)\]")
WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# White space, soft and zero-width characters, hyphens (lines may break at them) and the marks of claims are of no account.
UNSEEN = re.compile("[†‡¶\\s\u00ad\u200b-\u200d\u2060\ufe0e\ufe0f\u2010\u2011-]")


class ExportContent(NamedTuple):
    """What a reader found: the words without white space, the numbers whose link ends at their reference, web addresses."""

    words: str
    numbers: frozenset[int]
    addresses: frozenset[str]


def compact_text(text: str) -> str:
    """Return the text in a form that can be compared between formats."""
    return UNSEEN.sub("", unicodedata.normalize("NFKC", text)).casefold()


def read_pdf_export(content: bytes) -> ExportContent:
    """Read with pypdf (words, annotations) and PDFium (which words a link covers)."""
    import pypdf
    import pypdfium2

    reader, texts = pypdf.PdfReader(BytesIO(content)), pypdfium2.PdfDocument(content)
    pages = [page.extract_text() for page in reader.pages]
    # A page ends with its running foot, and all but the first begin with a running head.
    words = ["\n".join(page.splitlines()[number > 0 : -1]) for number, page in enumerate(pages)]
    numbers, addresses = set[int](), set[str]()
    for index, page in enumerate(reader.pages):
        covered = texts[index].get_textpage()
        for annotation in page.get("/Annots") or ():
            link: Any = annotation.get_object()
            action = link.get("/A") or {}
            if "/URI" in action:
                addresses.add(str(action["/URI"]))
            target = link.get("/Dest") or action.get("/D")
            shown = NUMBER.search(covered.get_text_bounded(*(float(x) for x in link["/Rect"])))
            if target is not None and shown and f"[{shown.group(1)}]" in pages[_find_page(reader, target)]:
                numbers.add(int(shown.group(1)))
    return ExportContent(compact_text("".join(words)), frozenset(numbers), frozenset(addresses))


def _find_page(reader: Any, target: Any) -> int:
    """Return the index of the page a link leads to."""
    place = target.get_object()
    place = place if isinstance(place, list) else reader.named_destinations[str(place)].dest_array
    return int(reader.get_page_number(place[0].get_object()))


def read_docx_export(content: bytes) -> ExportContent:
    """Read with zipfile and ElementTree, since python-docx takes part in writing."""
    with zipfile.ZipFile(BytesIO(content)) as parts:
        body = ElementTree.fromstring(parts.read("word/document.xml"))
        relations = ElementTree.fromstring(parts.read("word/_rels/document.xml.rels"))
    texts = ["".join(_list_word_texts(paragraph)) for paragraph in body.iter(f"{WORDS}p")]
    marked = {mark.get(f"{WORDS}name") for mark in body.iter(f"{WORDS}bookmarkStart")}
    numbers = set()
    for link in body.iter(f"{WORDS}hyperlink"):
        shown = NUMBER.fullmatch("".join(_list_word_texts(link)))
        if shown and link.get(f"{WORDS}anchor") == f"c{shown.group(1)}" and f"c{shown.group(1)}" in marked:
            numbers.add(int(shown.group(1)))
    targets = frozenset(relation.get("Target", "") for relation in relations if relation.get("TargetMode") == "External")
    return ExportContent(compact_text("".join(texts)), frozenset(numbers), targets)


def _list_word_texts(element: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{WORDS}t")]


def read_latex_export(content: bytes) -> ExportContent:
    """Read with pylatexenc."""
    text = content.decode()
    start = text.index(r"\begin{document}")
    title = re.search(r"\\title\{(.*)\}\n\\author", text)
    body = text[start:]
    labels = set(re.findall(r"\\label\{(c\d+)\}", body))
    links = re.findall(r"\\hyperref\[(c\d+)\]\{\{\[\}(\d+)\{\]\}\}", body)
    numbers = frozenset(int(n) for label, n in links if label == f"c{n}" and label in labels)
    addresses = {re.sub(r"\\([%#&_~])", r"\1", url) for url in re.findall(r"\\(?:url|href)\{([^{}]*)\}", body)}
    # An address is an argument that pylatexenc would read as prose, comments and all.
    plain = re.sub(r"\\(url|href)\{([^{}]*)\}", "", f"{title.group(1) if title else ''}\n{body}")
    return ExportContent(compact_text(_read_latex_words(plain)), numbers, frozenset(addresses))


def _read_latex_words(text: str) -> str:
    """Return the words, with those of links and code and some signs which pylatexenc does not know how to show."""
    from pylatexenc import latex2text, latexwalker, macrospec

    def last(node: Any, l2tobj: Any) -> str:
        return str(l2tobj.nodelist_to_text([node.nodeargd.argnlist[-1]]))

    signs = {"textless": "<", "textgreater": ">", "textasciicircum": "^", "^": "^", "textquotesingle": STRAIGHT, "ldots": "..."}
    node_context, text_context = latexwalker.get_default_latex_context_db(), latex2text.get_default_latex_context_db()
    macros = {"hyperref": "[{", "texttt": "{", "real": "{"}
    node_context.add_context_category("shown", prepend=True, macros=[macrospec.MacroSpec(*macro) for macro in macros.items()])
    text_context.add_context_category("shown", prepend=True, macros=[latex2text.MacroTextSpec(*sign) for sign in signs.items()])
    text_context.add_context_category("links", prepend=True, macros=[latex2text.MacroTextSpec(name, last) for name in macros])
    nodes, _, _ = latexwalker.LatexWalker(text, latex_context=node_context).get_latex_nodes()
    words = str(latex2text.LatexNodes2Text(strict_latex_spaces=True, latex_context=text_context).nodelist_to_text(nodes))
    # In TeX these keys are curved quotation marks.
    return words.replace("`", "‘").replace("'", "’").replace(STRAIGHT, "'")


def read_html_export(content: bytes) -> ExportContent:
    """Read with html5lib; a page that loads or runs anything is not intact, and comes back empty."""
    import html5lib

    page = html5lib.parse(content, namespaceHTMLElements=False, transport_encoding="utf-8")
    elements = list(page.iter())
    ours = [e for e in elements if isinstance(e.tag, str)]
    if any(
        e.tag in ("script", "img", "iframe", "object", "link", "base") or any(n.startswith("on") for n in e.attrib) for e in ours
    ):
        return ExportContent("", frozenset(), frozenset())
    marked = {e.get("id") for e in ours}
    links = [(e.get("href") or "", "".join(e.itertext())) for e in ours if e.tag == "a"]
    numbers = frozenset(
        int(text[1:-1]) for href, text in links if text == f"[{href[2:]}]" and href[:2] == "#c" and href[1:] in marked
    )
    body = next(e for e in ours if e.tag == "body")
    return ExportContent(
        compact_text("".join(body.itertext())), numbers, frozenset(href for href, _ in links if href.startswith("http"))
    )


def read_markdown_export(content: bytes) -> ExportContent:
    """Read with Pandoc, as GitHub reads Markdown. Numbers are words there: each must have its entry."""
    words = run_pandoc(content, "--from=gfm-autolink_bare_uris", "--to=plain", "--wrap=none").decode()
    tree = json_reader.loads(run_pandoc(content, "--from=gfm-autolink_bare_uris", "--to=json"))
    addresses = frozenset(node["c"][2][0] for node in _walk_nodes(tree) if node.get("t") == "Link")
    entries = (node for node in _walk_nodes(tree) if node.get("t") == "Strong")
    numbers = [NUMBER.fullmatch("".join(str(part.get("c", "")) for part in entry["c"])) for entry in entries]
    return ExportContent(compact_text(words), frozenset(int(n.group(1)) for n in numbers if n), addresses)


def _walk_nodes(tree: Any) -> Iterable[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
        tree = list(tree.values())
    if isinstance(tree, list):
        for part in tree:
            yield from _walk_nodes(part)


def read_json_export(content: bytes) -> ExportContent:
    """Read with the standard library; the sections' Markdown with Pandoc."""
    export = json_reader.loads(content)
    sections = "\n\n".join(f"{section['heading']}\n\n{section['markdown']}" for section in export["sections"])
    words = run_pandoc(sections.encode(), "--from=gfm-autolink_bare_uris", "--to=plain", "--wrap=none").decode()
    conflicts = [f"{c['about']} {''.join(f'[{n}]' for n in c['citations'])}" for c in export["conflicts"]]
    headings = [section["heading"] for section in export["sections"]]
    texts = [export["title"], *headings, words, *conflicts, *export["notices"], *(c["quote"] for c in export["citations"])]
    numbers = frozenset(c["n"] for c in export["citations"] if f"[{c['n']}]" in sections)
    return ExportContent(compact_text("".join(texts)), numbers, frozenset(c["source"]["url"] for c in export["citations"]))


def read_bibtex_export(content: bytes) -> ExportContent:
    """Read with Pandoc, which makes double marks of a title's single ones; so all here are double, also the expected ones."""
    items = json_reader.loads(run_pandoc(content, "--from=bibtex", "--to=csljson"))
    texts = [f"{item['title']} {item['note']}".translate(DOUBLE_MARKS) for item in items]
    return _read_sources(texts, [item.get("URL", "") for item in items])


def read_ris_export(content: bytes) -> ExportContent:
    """Read with rispy, which passes over what is no record, and with Pandoc, which refuses that but knows no notes."""
    import rispy

    entries = rispy.loads(content.decode())
    second = json_reader.loads(run_pandoc(content, "--from=ris", "--to=csljson"))
    if [item["id"] for item in second] != [entry["id"] for entry in entries]:
        return ExportContent("", frozenset(), frozenset())
    return _read_sources(
        [f"{e['title']} {' '.join(e.get('notes', []))}" for e in entries], [item.get("URL", "") for item in second]
    )


def read_csl_export(content: bytes) -> ExportContent:
    """Read with Pandoc's citation processor."""
    items = json_reader.loads(run_pandoc(content, "--from=csljson", "--to=csljson"))
    original = json_reader.loads(content)
    if [item["id"] for item in items] != [item["id"] for item in original]:
        return ExportContent("", frozenset(), frozenset())
    return _read_sources([f"{item['title']} {item['note']}" for item in original], [item.get("URL", "") for item in items])


def _read_sources(texts: list[str], addresses: list[str]) -> ExportContent:
    """Read sources, whose notes name the numbers they are quoted under."""
    text = "".join(texts)
    return ExportContent(compact_text(text), frozenset(int(n) for n in NUMBER.findall(text)), frozenset(addresses))
