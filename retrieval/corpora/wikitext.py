"""The readable text of wikitext: prose, headings, lists and table rows; no templates, references, files or categories."""

import re

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, Heading, HTMLEntity, Node, Tag, Template, Text, Wikilink
from mwparserfromhell.wikicode import Wikicode

from app.domain.blocks import BlockKind
from retrieval.corpora.marks import mark

_UNSEEN_TAGS = frozenset(
    {"ref", "references", "gallery", "math", "timeline", "score", "imagemap", "style", "templatestyles", "graph"}
)
_SHOWS_FIRST = frozenset({"nowrap", "small", "nobr", "abbr", "nihongo", "tooltip", "as of"})
_SHOWS_LAST = frozenset({"lang", "transl", "transliteration"})
"""Templates that show one of their arguments in the sentence. All others are boxes, notes and numbers from elsewhere."""
_QUANTITY = frozenset({"convert", "cvt"})
_NOT_TEXT = re.compile(r"\s*(?:(?i:file|image|category|media|文件|图像|圖像|分类|分類)\s*:|[a-z]{2,3}(?:-[a-z]+)?:\S)")
"""Links to pictures, categories, and the article in another language. `[[:Category:...]]` is shown."""
_LAST_SECTIONS = re.compile(
    "references|external links|further reading|see also|notes|bibliography|sources|citations|footnotes|参考文献|參考文獻|外部链接"
    "|外部連結|参见|參見|延伸阅读|延伸閱讀|注释|註釋|参考资料|參考資料",
    re.IGNORECASE,
)
_EMPTY_BRACKETS = re.compile(r"\s*[(（][\s,;，；:]*[)）]")
_LEADING_IN_BRACKETS = re.compile(r"([(（])[\s,;，；:]+")
_CELL = "\x1f"
"""The end of a table cell, until its row is joined."""
_REDIRECT = re.compile(r"\s*#\s*(?:redirect|重定向)", re.IGNORECASE)
_SPACES = re.compile(r"[ \t\u00a0]+")
_MAGIC = re.compile(r"__[A-Z]+__")
_VARIANTS = re.compile(r"-\{(?:[^{}|]*\|)?([^{}]*)\}-")
_SIMPLIFIED = re.compile(r"zh-(?:hans|cn)\s*:\s*([^;]*)")


def readable_text_of(wikitext: str) -> str:
    """Return the readable text of an article, with marked headings: paragraphs, list items and table rows between blank lines."""
    pieces: list[str] = []
    kept = True
    for node in mwparserfromhell.parse(wikitext, skip_style_tags=False).nodes:
        if isinstance(node, Heading):
            title = _inline_text_of(node.title)
            if node.level <= 2:
                kept = _LAST_SECTIONS.fullmatch(title.strip()) is None
            pieces.append(f"\n\n{mark(BlockKind.HEADING, title.strip(), node.level)}\n\n" if kept else "")
        elif kept:
            pieces.append(_text_of(node))
    return _tidy("".join(pieces))


def is_redirect(wikitext: str) -> bool:
    """Say whether a page only points to another one."""
    return _REDIRECT.match(wikitext) is not None


def _text_of(node: Node) -> str:
    if isinstance(node, Text):
        return str(node.value)
    if isinstance(node, Wikilink):
        return _link_text_of(node)
    if isinstance(node, Tag):
        return _tag_text_of(node)
    if isinstance(node, ExternalLink):
        return _inline_text_of(node.title) if node.title is not None else ""
    if isinstance(node, HTMLEntity):
        return str(node.normalize()).encode("utf-8", errors="replace").decode("utf-8")  # &#xd800; is no character
    if isinstance(node, Template):
        return _template_text_of(node)
    return ""


def _inline_text_of(code: Wikicode | None) -> str:
    return "".join(_text_of(node) for node in code.nodes) if code is not None else ""


def _link_text_of(link: Wikilink) -> str:
    target = str(link.title)
    if _NOT_TEXT.match(target):
        return ""
    return _inline_text_of(link.text) if link.text is not None else target.lstrip(":").partition("#")[0]


def _tag_text_of(tag: Tag) -> str:
    name = str(tag.tag).strip().lower()
    if name in _UNSEEN_TAGS:
        return ""
    if name in ("br", "hr"):
        return "\n"
    inside = _inline_text_of(tag.contents)
    match name:
        case "li" | "dd" | "dt" if not inside:  # a mark at the start of a line; the item's text follows it
            return "\n\n" if not str(tag).startswith((":", ";")) else ""
        case "table":
            return f"\n\n{_join_rows(inside)}\n\n"
        case "tr":
            return f"\n{inside}\n"
        case "td" | "th":
            return f"{' '.join(inside.split())}{_CELL}"
        case "p" | "div" | "blockquote" | "li":
            return f"\n\n{inside}\n\n"
    return inside


def _join_rows(table: str) -> str:
    """Return a line for each row, with bars between its cells."""
    rows = (" | ".join(cell.strip() for cell in row.split(_CELL) if cell.strip()) for row in table.split("\n"))
    return "\n".join(row for row in rows if row)


def _template_text_of(template: Template) -> str:
    name = str(template.name).strip().lower().replace("_", " ")
    values = [_inline_text_of(parameter.value).strip() for parameter in template.params if not parameter.showkey]
    if not values:
        return ""
    if name in _QUANTITY and len(values) > 1:
        return f"{values[0]} {values[1]}"
    if name in _SHOWS_FIRST:
        return values[0]
    return values[-1] if name in _SHOWS_LAST or name.startswith("lang-") else ""


def _simplified_of(found: re.Match[str]) -> str:
    """Return the simplified form of a Chinese word with several variants, or the first variant."""
    simplified = _SIMPLIFIED.search(found.group(1))
    return simplified.group(1) if simplified else found.group(1).partition(";")[0].rpartition(":")[2]


def _tidy(text: str) -> str:
    text = _VARIANTS.sub(_simplified_of, text)
    text = _LEADING_IN_BRACKETS.sub(r"\1", _EMPTY_BRACKETS.sub("", _MAGIC.sub("", text.replace(_CELL, " "))))
    lines = (_SPACES.sub(" ", line).strip() for line in text.split("\n"))
    return "\n\n".join(line for line in lines if line)
