"""The cleaning of a report for RACE's judge: prose without citation marks, addresses and lists of references.

The benchmark lets a model clean the articles. Here rules do it, so that nothing else of an article changes.
"""

import re

_MARK = re.compile(
    r"\s?(?:\[\[?\^?\d{1,4}\]?\](?:\([^)\s]*\))?"
    r"|\[\^?\d{1,4}(?:\s*[,–-]\s*\^?\d{1,4})+\]"
    r"|【\d{1,4}[^】\n]{0,40}】)"
)
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)")
_ADDRESS = re.compile(r"<?https?://[^\s<>)）\]，。]+>?")
_NAMES = "references?|sources?|works cited|bibliography|citations|参考文献|参考资料|引用|来源|引用来源"
_REFERENCES = re.compile(
    rf"^\s{{0,3}}(?:#{{1,6}}\s*|\*\*)?(?:\d+[.、]\s*)?(?:{_NAMES})\s*:?：?(?:\*\*)?\s*$", re.IGNORECASE | re.MULTILINE
)
_HEADING = re.compile(r"^#{1,6}\s", re.MULTILINE)


def clean_article(article: str) -> str:
    """Return the article's prose alone."""
    without = _ADDRESS.sub("", _LINK.sub(r"\1", _MARK.sub("", _cut_references(article))))
    return re.sub(r"[ \t]+(?=\n|$)", "", without).strip()


def _cut_references(article: str) -> str:
    """Cut the last section whose heading names a list of references; later sections stay."""
    if not (found := list(_REFERENCES.finditer(article))):
        return article
    last = found[-1]
    following = _HEADING.search(article, last.end())
    return article[: last.start()] + (article[following.start() :] if following else "")
