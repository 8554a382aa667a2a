"""Word files whose text stands in more than plain paragraphs: tracked changes, content controls, fields and text boxes."""

import re
from pathlib import Path

from docx import Document as Word
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from retrieval.corpora.documents import FolderCorpus
from retrieval.ports import Document

MARKUP = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
SENTENCE = """
<w:p><w:pPr><w:tabs><w:tab w:val="left" w:pos="9"/></w:tabs></w:pPr>[The duty is ]<w:ins w:id="1">[not ]</w:ins>
<w:del w:id="2"><w:r><w:delText>quite </w:delText></w:r></w:del>[final]<w:r><w:tab/><w:t>yet</w:t><w:br/></w:r>
<w:sdt><w:sdtContent>[by 1890]</w:sdtContent></w:sdt><w:fldSimple w:instr="REF x">[, see table 2]</w:fldSimple></w:p>"""
BLOCKS = """
<w:sdt><w:sdtPr/><w:sdtContent><w:p>[A paragraph in a control.]</w:p></w:sdtContent></w:sdt>
<w:p><w:moveFrom w:id="3">[Moved.]</w:moveFrom></w:p><w:p><w:moveTo w:id="4">[Moved.]</w:moveTo></w:p>
<w:p>[Beside it stands a box.]<w:r><mc:AlternateContent>
<mc:Choice Requires="wps"><w:txbxContent><w:p>[In the box.]</w:p></w:txbxContent></mc:Choice>
<mc:Fallback><w:txbxContent><w:p>[In the box.]</w:p></w:txbxContent></mc:Fallback></mc:AlternateContent></w:r></w:p>"""
TABLE = """
<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p>[Duties]</w:p></w:tc></w:tr>
<w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr><w:p>[1890]</w:p></w:tc>
<w:sdt><w:sdtContent><w:tc><w:p><w:ins w:id="5">[49%]</w:ins></w:p></w:tc></w:sdtContent></w:sdt></w:tr>
<w:sdt><w:sdtContent><w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc>
<w:tc><w:tbl><w:tr><w:tc><w:p>[on wool]</w:p></w:tc></w:tr></w:tbl><w:p/></w:tc></w:tr></w:sdtContent></w:sdt></w:tbl>"""


def read_word(folder: Path, blocks: str) -> list[str]:
    """The blocks of a document with these elements in its body; a text in brackets is a run."""
    document = Word()
    elements = re.sub(r"\[(.*?)\]", r'<w:r><w:t xml:space="preserve">\1</w:t></w:r>', blocks.replace("\n", ""))
    for element in parse_xml(f"<w:body {nsdecls('w')} {MARKUP}>{elements}</w:body>"):
        document.element.body.insert(-1, element)
    document.save(str(folder / "a.docx"))
    (found,) = FolderCorpus(folder).read_documents()
    assert isinstance(found, Document)
    return found.text.split("\n\n")


def test_a_sentence_is_read_with_its_insertions_controls_and_fields_and_without_what_is_deleted(tmp_path: Path) -> None:
    assert read_word(tmp_path, SENTENCE) == ["The duty is not final\tyet\nby 1890, see table 2"]


def test_blocks_in_controls_and_in_boxes_are_read_once(tmp_path: Path) -> None:
    expected = ["A paragraph in a control.", "Moved.", "Beside it stands a box.", "In the box."]
    assert read_word(tmp_path, BLOCKS) == expected


def test_cells_are_read_wherever_they_stand(tmp_path: Path) -> None:
    assert read_word(tmp_path, TABLE) == ["Duties", "1890 | 49%", "1890 | on wool"]
