"""Write a document as LaTeX for XeLaTeX or LuaLaTeX, Chinese through `ctex`."""

import re
from importlib.resources import files

import orjson

from app.exports.service.document import ReportDocument
from app.exports.service.pandoc import run_pandoc
from app.exports.service.pandoc_tree import list_sections, make_raw_block, to_tree

SIDEWAYS = (make_raw_block("latex", r"\begin{landscape}"), make_raw_block("latex", r"\end{landscape}"))
CJK = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")


def to_latex(document: ReportDocument) -> bytes:
    """Return one `.tex` file that needs no other file.

    Raises:
        PandocFailed: the document cannot be written as LaTeX.
    """
    content = orjson.dumps(to_tree(document, SIDEWAYS))
    template = str(files("app.exports.service").joinpath("report.latex"))
    told = ["--variable", "cjk"] if CJK.search(content.decode()) else []
    if list_sections(document):
        told += ["--variable", "contents"]
    return run_pandoc(content, "--from=json", "--to=latex", "--standalone", f"--template={template}", "--wrap=preserve", *told)
