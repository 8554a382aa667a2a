"""The cleaning of a report for RACE's judge: prose without citation marks, addresses and lists of references.

The benchmark lets a model clean the articles. Here rules do it, so that nothing else of an article changes. Cells of a table
are cleaned here too.
"""

import re

from workflows.checks.source_lists import names_a_source_list

_MARK = re.compile(
    r"\s?(?:\[\[?\^?\d{1,4}\]?\](?:\([^)\s]*\))?"
    r"|\[\^?\d{1,4}(?:\s*[,–-]\s*\^?\d{1,4})+\]"
    r"|【\d{1,4}[^】\n]{0,40}】)"
)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_ADDRESS = re.compile(r"<?https?://[^\s<>)）\]，。]+>?")
_HEADING = re.compile(r"#{1,6}\s")


def clean_article(article: str) -> str:
    """Return the article's prose alone."""
    without = _ADDRESS.sub("", _LINK.sub(r"\1", _MARK.sub("", _cut_references(article))))
    return re.sub(r"[ \t]+(?=\n|$)", "", without).strip()


def clean_cell(cell: str) -> str:
    """Return a table cell's words without citation marks, emphasis and addresses of links."""
    said = _MARK.sub("", cell).strip() or cell
    return _LINK.sub(r"\1", said).strip(" *_`")


def read_cell_address(cell: str) -> str:
    """Return where a table cell's first link leads; without a link its words."""
    said = _MARK.sub("", cell).strip() or cell
    link = _LINK.search(said)
    return link[0].partition("](")[2].removesuffix(")") if link else said.strip(" <>*_`")


def _cut_references(article: str) -> str:
    """Cut the last section whose heading names a list of references; later sections stay."""
    lines = article.split("\n")
    last = max((place for place, line in enumerate(lines) if names_a_source_list(line)), default=len(lines))
    following = next((place for place in range(last + 1, len(lines)) if _HEADING.match(lines[place])), len(lines))
    return "\n".join([*lines[:last], *lines[following:]])
