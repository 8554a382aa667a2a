"""Word documents as Word shows them: raised text, notes, headers, formulas, struck and hidden text, numbers, spans, charts."""

import io
import zipfile

import pytest

from retrieval.corpora.list_numbers import write_number
from retrieval.corpora.office.word import read_docx

TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml" '
    f'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:r="{TYPES}"'
)
LINK = '<Relationship Id="{0}" Type="{1}/{2}" Target="{3}"/>'
LINKS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>'


def make_word(body: str, core: str = "", **parts: str) -> bytes:
    """A package with this body; each part is linked by an id and a kind that are its name (`header_2` is a header)."""
    members = {"word/document.xml": f"<w:document {SPACES}><w:body>{body}</w:body></w:document>"}
    links = [LINK.format("main", TYPES, "officeDocument", "word/document.xml")]
    if core:
        members["docProps/core.xml"] = f'<c xmlns:dc="d" xmlns:dcterms="t">{core}</c>'
        links.append(LINK.format("core", "x", "core-properties", "docProps/core.xml"))
    members["_rels/.rels"] = LINKS.format("".join(links))
    linked = "".join(LINK.format(name, TYPES, name.partition("_")[0], f"{name}.xml") for name in parts)
    members["word/_rels/document.xml.rels"] = LINKS.format(linked)
    members |= {f"word/{name}.xml": part if "<c:" in part else f"<w:x {SPACES}>{part}</w:x>" for name, part in parts.items()}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as package:
        for name, part in members.items():
            package.writestr(name, part)
    return content.getvalue()


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def read(body: str, **parts: str) -> list[str]:
    return read_docx(make_word(body, **parts)).text.split("\n\n")


def test_raised_text_keeps_the_number_before_it_and_after_it() -> None:
    up, down = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'
    styled = '<w:style w:styleId="Up" w:type="character"><w:basedOn w:val="Base"/></w:style>'
    styled += f'<w:style w:styleId="Base" w:type="character"><w:rPr>{up}</w:rPr></w:style>'
    pieces = [
        run("10"),
        run("6", up),
        run(" cells, 10"),
        run("-", up),
        run("4", up),
        run(" g, 2"),
        run("8", '<w:rStyle w:val="Up"/>'),
    ]
    pieces += [
        run(", H"),
        run("2", down),
        run("O, 10"),
        run("2", down),
        run(", in 1951"),
        run("3", up),
        run(" and 1960"),
        run("*", up),
    ]
    assert read(paragraph(*pieces), styles=styled) == ["10^6 cells, 10^-4 g, 2^8, H2O, 10_2, in 1951[3] and 1960"]


def test_symbols_and_text_that_is_moved_up() -> None:
    sign = '<w:r><w:sym w:font="Symbol" w:char="{}"/></w:r>'.format
    up = run("6", '<w:position w:val="6"/>')
    assert read(paragraph(run("20 "), sign("F0B0"), run("C "), sign("F0B3"), sign("F061"), run(", 10"), up)) == ["20 °C ≥α, 10^6"]


def test_notes_and_comments_follow_their_paragraph() -> None:
    marks = '<w:r><w:footnoteReference w:id="2"/><w:endnoteReference w:id="2"/><w:commentReference w:id="0"/></w:r>'
    note = '<w:{0} w:type="separator" w:id="0"><w:p/></w:{0}><w:{0} w:id="2">{1}</w:{0}>'
    found = read(
        paragraph(run("The rent is 1,850 crowns."), marks) + paragraph(run("It rises.")),
        footnotes=note.format("footnote", paragraph(run("900 in winter."))),
        endnotes=note.format("endnote", paragraph(run("Ended in 2010."))),
        comments=f'<w:comment w:id="0" w:author="Ida">{paragraph(run("Who says so?"))}</w:comment>',
    )
    assert found == [
        "The rent is 1,850 crowns.",
        "Note: 900 in winter.",
        "Note: Ended in 2010.",
        "Comment by Ida: Who says so?",
        "It rises.",
    ]


def test_headers_and_footers_are_read_once_and_pages_are_not_counted() -> None:
    kinds = (("header", "header_1", "default"), ("header", "header_2", "first"), ("footer", "footer_1", "even"))
    ends = "".join(f'<w:{kind}Reference w:type="{when}" r:id="{name}"/>' for kind, name, when in kinds)
    section = paragraph(properties=f"<w:sectPr>{ends}</w:sectPr>")
    number = paragraph(run("Page "), '<w:fldSimple w:instr=" PAGE ">' + run("7") + "</w:fldSimple>")
    found = read(
        section + paragraph(run("The toll is five crowns.")) + f"<w:sectPr>{ends}</w:sectPr>",
        header_1=paragraph(run("Repealed in 1960")),
        header_2='<w:p><w:r><v:textpath string="DRAFT"/></w:r></w:p>' + paragraph(run("Harbour Act")),
        footer_1=number + paragraph(run("Confidential")),
    )
    assert found == ["Repealed in 1960", "DRAFT", "Harbour Act", "The toll is five crowns.", "Confidential"]


def test_formulas_are_written_in_one_line() -> None:
    def letter(text: str) -> str:
        return f"<m:r><m:t>{text}</m:t></m:r>"

    fraction = f"<m:f><m:fPr/><m:num>{letter('a+1')}</m:num><m:den>{letter('7')}</m:den></m:f>"
    root = f"<m:rad><m:radPr/><m:deg/><m:e>{letter('x')}</m:e></m:rad>"
    power = f"<m:sSup><m:e>{letter('x')}</m:e><m:sup>{letter('2')}</m:sup></m:sSup>"
    low = f"<m:sSub><m:e>{letter('q')}</m:e><m:sub>{letter('i')}</m:sub></m:sSub>"
    ends = f"<m:sub>{letter('i=1')}</m:sub><m:sup>{letter('n')}</m:sup>"
    total = f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{ends}<m:e>{low}</m:e></m:nary>'
    fences = f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val="]"/></m:dPr><m:e>{power}</m:e></m:d>'
    pieces = (fraction, letter("="), root, letter("+"), total, letter("+"), fences)
    body = paragraph(run("Pay "), f"<m:oMathPara><m:oMath>{''.join(pieces)}</m:oMath></m:oMathPara>", run(" a day"))
    assert read(body) == ["Pay (a+1)/7=√x+∑_(i=1)^n q_i+[x^2] a day"]


@pytest.mark.parametrize(
    ("properties", "note"),
    [
        ("<w:strike/>", "struck-out text was left out"),
        ('<w:dstrike w:val="1"/>', "struck-out text was left out"),
        ("<w:vanish/>", "hidden text was left out"),
        ('<w:rStyle w:val="Gone"/>', "hidden text was left out"),
        ('<w:strike w:val="false"/>', ""),
        ('<w:rStyle w:val="Gone"/><w:vanish w:val="0"/>', ""),
    ],
)
def test_struck_and_hidden_text_is_left_out_and_a_note_says_so(properties: str, note: str) -> None:
    gone = '<w:style w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style>'
    found = read_docx(make_word(paragraph(run("It is "), run("seven ", properties), run("five crowns.")), styles=gone))
    assert (found.text, found.note) == ("It is five crowns." if note else "It is seven five crowns.", note)


def level(number: int, form: str, text: str, more: str = "") -> str:
    return f'<w:lvl w:ilvl="{number}"><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/></w:lvl>'


def item(text: str, depth: int, number: int = 1) -> str:
    return paragraph(run(text), properties=f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>')


def test_automatic_numbers_are_counted_as_word_counts_them() -> None:
    levels = level(0, "upperRoman", "Article %1") + level(1, "decimal", "%1.%2", "<w:isLgl/>") + level(2, "lowerLetter", "(%3)")
    shape = f'<w:abstractNum w:abstractNumId="0">{levels}{level(3, "bullet", "•")}</w:abstractNum>'
    lists = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/>'
    lists += '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
    body = item("Rent", 0) + item("Sum", 1) + item("Day", 1) + item("first", 2) + item("second", 2) + item("End", 0)
    body += item("Sides", 1) + item("early", 2) + item("a dot", 3) + item("Other", 0, 2) + item("none", 0, 0)
    assert read(body, numbering=shape + lists) == [
        "Article I Rent",
        "1.1 Sum",
        "1.2 Day",
        "(a) first",
        "(b) second",
        "Article II End",
        "2.1 Sides",
        "(a) early",
        "- a dot",
        "Article I Other",
        "none",
    ]


def test_the_number_of_a_style_is_its_paragraphs() -> None:
    shape = '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="1"><w:start w:val="3"/><w:numFmt w:val="decimal"/>'
    shape += '<w:pStyle w:val="Two"/><w:lvlText w:val="§ %2"/></w:lvl></w:abstractNum>'
    shape += '<w:num w:numId="4"><w:abstractNumId w:val="0"/></w:num>'
    styles = '<w:style w:styleId="Two"><w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr></w:style>'
    assert read(paragraph(run("Duties"), properties='<w:pStyle w:val="Two"/>'), numbering=shape, styles=styles) == ["§ 3 Duties"]


@pytest.mark.parametrize(
    ("value", "form", "written"),
    [
        (4, "lowerRoman", "iv"),
        (28, "upperLetter", "BB"),
        (22, "ordinal", "22nd"),
        (7, "decimalZero", "07"),
        (12, "chineseCounting", "十二"),
    ],
)
def test_forms_of_numbers(value: int, form: str, written: str) -> None:
    assert write_number(value, form) == written


def test_cells_that_span_columns_and_rows_stand_in_each_of_them() -> None:
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(run(text))}</w:tc>"

    rows = (
        cell("Tolls", '<w:gridSpan w:val="3"/>'),
        cell("Year") + cell("Crowns", '<w:gridSpan w:val="2"/>'),
        cell("1951", '<w:vMerge w:val="restart"/>') + cell("5") + cell("6"),
        cell("", "<w:vMerge/>") + cell("7") + cell("8"),
        f'<w:trPr><w:del w:id="1"/></w:trPr>{cell("1960")}',
    )
    found = read(f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>")
    assert found == ["Tolls", "Year | Crowns | Crowns", "1951 | 5 | 6", "1951 | 7 | 8"]


def test_a_title_and_a_date_that_a_template_invents_are_none() -> None:
    invented = "<dc:title>Word Document</dc:title><dc:creator>python-docx</dc:creator>"
    invented += "<dcterms:created>2013-12-23T23:15:00Z</dcterms:created>"
    stated = "<dc:title>Tolls</dc:title><dc:creator>Ida</dc:creator><dcterms:modified>1999-05-01T10:00:00Z</dcterms:modified>"
    found = [read_docx(make_word(paragraph(run("x")), core)) for core in ("", invented, stated)]
    assert [(one.title, one.author, str(one.changed)) for one in found] == [
        ("", "", "None"),
        ("", "", "None"),
        ("Tolls", "Ida", "1999-05-01"),
    ]


def test_the_strict_form_is_read() -> None:
    usual = make_word(paragraph(run("10"), run("6", '<w:vertAlign w:val="superscript"/>'), run(" cells")))
    strict = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(usual)) as old, zipfile.ZipFile(strict, "w") as package:
        for name in old.namelist():
            part = old.read(name).decode()
            for kind in ("wordprocessingml", "officeDocument"):
                part = part.replace(f"http://schemas.openxmlformats.org/{kind}/2006", f"http://purl.oclc.org/ooxml/{kind}")
            package.writestr(name, part)
    assert read_docx(strict.getvalue()).text == "10^6 cells"


def test_of_a_damaged_part_what_can_be_read_is_and_a_note_says_so() -> None:
    found = read_docx(make_word(paragraph(run("It is five crowns.")), footnotes="<w:footnote>&nothing; <"))
    assert (found.text, found.note) == ("It is five crowns.", "word/footnotes.xml is damaged: some of its text may be missing")


def test_a_chart_and_embedded_objects() -> None:
    point = '<c:pt idx="{}"><c:v>{}</c:v></c:pt>'.format
    names = f"<c:cat><c:strRef><c:strCache>{point(0, 'May')}{point(1, 'June')}</c:strCache></c:strRef></c:cat>"
    values = f"<c:numCache><c:formatCode>0.0</c:formatCode>{point(0, 5)}{point(1, 6)}</c:numCache>"
    series = f"<c:ser><c:tx><c:v>Toll</c:v></c:tx>{names}<c:val><c:numRef>{values}</c:numRef></c:val></c:ser>"
    drawing = '<w:r><w:drawing><x r:id="chart"/></w:drawing><w:object><x r:id="oleObject"/></w:object></w:r>'
    cell = f"<w:tbl><w:tr><w:tc>{paragraph(drawing)}</w:tc></w:tr></w:tbl>"
    found = read_docx(make_word(cell, chart=f'<c:chart xmlns:c="c">{series}</c:chart>', oleObject="", aFChunk=""))
    assert found.text == "| Toll May | 5.0 June | 6.0"
    assert found.note == "an embedded document was not read; an embedded object was not read"


def test_a_title_that_office_invents_is_none() -> None:
    titles = {title: f"<dc:title>{title}</dc:title>" for title in ("Dokument1", "PowerPoint-Präsentation", "Der Nordkai")}
    found = {title: read_docx(make_word(paragraph(run("A lease.")), core)).title for title, core in titles.items()}
    assert found == {"Dokument1": "", "PowerPoint-Präsentation": "", "Der Nordkai": "Der Nordkai"}
