"""Write a document as LaTeX for XeLaTeX or LuaLaTeX, Chinese through `ctex`."""

import re
from importlib.resources import files

import orjson

from app.exports.service.document import Document
from app.exports.service.pandoc import pandoc
from app.exports.service.pandoc_tree import raw, sections, tree

SIDEWAYS = (raw("latex", r"\begin{landscape}"), raw("latex", r"\end{landscape}"))
CJK = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")


def to_latex(document: Document) -> bytes:
    """Return one `.tex` file that needs no other file.

    Raises:
        PandocFailed: the document cannot be written as LaTeX.
    """
    content = orjson.dumps(tree(document, SIDEWAYS))
    template = str(files("app.exports.service").joinpath("report.latex"))
    told = ["--variable", "cjk"] if CJK.search(content.decode()) else []
    if sections(document):
        told += ["--variable", "contents"]
    return pandoc(content, "--from=json", "--to=latex", "--standalone", f"--template={template}", "--wrap=preserve", *told)
