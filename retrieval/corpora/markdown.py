"""A reader of Markdown files. It drops the markup, so that a quote reads as a reader sees it."""

import json
import re
import tomllib
from collections.abc import Iterable
from html import escape
from itertools import pairwise
from typing import Any

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.domain.blocks import BlockKind
from retrieval.corpora.extract import Extract
from retrieval.corpora.html import visible_text_of
from retrieval.corpora.marks import drop_marks, mark, mark_code
from retrieval.corpora.plain import decode_text
from retrieval.language.dates import read_date
from retrieval.language.document_date import find_date_in_name

_FRONT_MATTER = re.compile(
    r"\A(?:---(?:yaml)?\n(?P<yaml>.*?)\n(?:---|\.\.\.)|\+\+\+\n(?P<toml>.*?)\n\+\+\+"
    r'|(?P<json>\{\n\s*".*?\n\})|;;;\n(?P<fenced>\{.*?\})\n;;;)[ \t]*(?:\n|\Z)',
    re.DOTALL,
)
_FIELD = re.compile(r"^(\w+)[ \t]*:[ \t]*[\"']?(.*?)[\"']?[ \t]*$", re.MULTILINE)
_TITLE_BLOCK = re.compile(r"\A(?:%.*\n(?:[ \t]+\S.*\n)*){1,3}(?=\n|\Z)")
"""Pandoc's: a line each for the title, the authors and the date; a line that begins with a space goes on with the one before."""
_MARKUP = re.compile(r"<(?:su[bp]|s|del|strike|span|a)\b", re.IGNORECASE)
"""Tags that change what a line says."""
_BREAK = re.compile(r"<br\b", re.IGNORECASE)


def read_markdown(content: bytes) -> Extract:
    """Read a Markdown file; its title is the front matter's, or its first heading of the first level."""
    text = decode_text(content)
    front = _FRONT_MATTER.match(text) or _TITLE_BLOCK.match(text)
    fields = _read_fields(front) if front else {}
    if front and not fields and text.startswith("---"):  # a text between two lines
        front = None
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text[front.end() :] if front else text)
    return Extract(
        text="\n\n".join(block for block in _blocks_of(tokens) if block.strip()),
        title=fields.get("title") or _find_heading(tokens),
        author=fields.get("author", ""),
        published=read_date(fields.get("date")) or find_date_in_name(fields.get("date", "")),
    ).read_marks()


def _read_fields(front: re.Match[str]) -> dict[str, str]:
    """Return what the front matter states, by lower-case names. What is broken states nothing; of YAML, what its lines state."""
    if front.re is _TITLE_BLOCK:
        lines = re.split("^%", front[0], flags=re.MULTILINE)[1:]
        return {name: _write_field(line) for name, line in zip(("title", "author", "date"), lines, strict=False)}
    stated: Any = {}
    try:
        if front["yaml"] is not None:
            stated = yaml.load(front["yaml"], yaml.BaseLoader)
        elif front["toml"] is not None:
            stated = tomllib.loads(front["toml"])
        else:
            stated = json.loads(front["json"] or front["fenced"])
    except yaml.YAMLError:  # often a colon in a title that nobody put into quotes
        stated = dict(_FIELD.findall(front["yaml"]))
    except ValueError:  # of the other parsers
        return {}
    return {str(name).lower(): _write_field(value) for name, value in stated.items()} if isinstance(stated, dict) else {}


def _write_field(value: Any) -> str:
    """Write a field's value in one line: of several authors each, of one with an address the name.

    What is nested deeper is no title, author or date, and what repeats itself there would never end.
    """
    named = (one.get("name") if isinstance(one, dict) else one for one in (value if isinstance(value, list) else [value]))
    return "; ".join(" ".join(str(one).split()) for one in named if one and not isinstance(one, list | dict))


def _find_heading(tokens: list[Token]) -> str:
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h1":
            return drop_marks(_inline_text_of(inline))
    return ""


def _blocks_of(tokens: Iterable[Token]) -> Iterable[str]:
    """Yield a marked text for each paragraph, heading, item (with its bullet or number), block of code, row or block of HTML."""
    row: list[str] | None = None
    bullet = ""
    kind, level = BlockKind.PARAGRAPH, 0
    for token in tokens:
        if token.type == "list_item_open":
            bullet = f"{token.info}{token.markup} " if token.info else "- "
        elif token.type == "list_item_close":
            bullet = ""
        elif token.type in ("heading_open", "heading_close"):
            kind, level = (BlockKind.HEADING, int(token.tag[1])) if token.nesting > 0 else (BlockKind.PARAGRAPH, 0)
        elif token.type == "thead_open":
            kind = BlockKind.HEAD
        elif token.type == "tbody_open":
            kind = BlockKind.ROW
        elif token.type == "table_close":
            kind = BlockKind.PARAGRAPH
        elif token.type == "tr_open":
            row = []
        elif token.type == "tr_close" and row is not None:
            yield mark(kind, " | ".join(row))
            row = None
        elif token.type == "inline":
            if row is None:
                yield mark(BlockKind.ITEM if bullet else kind, bullet + _inline_text_of(token), level)
                bullet = ""
            else:
                row.append(" ".join(_inline_text_of(token).split("\n")))
        elif token.type in ("fence", "code_block"):
            yield mark_code(token.content.rstrip("\n"))
        elif token.type == "html_block":
            yield visible_text_of(f"<html><body>{token.content}</body></html>")  # a whole page: a comment alone is no fragment


def _inline_text_of(token: Token) -> str:
    """Return the text of a line without what is struck out. Its HTML is read as a page's."""
    pieces: list[tuple[str, str]] = []
    struck = 0
    for child in token.children or []:
        if child.type in ("s_open", "s_close"):
            struck += child.nesting
        elif struck:
            continue
        elif child.type in ("softbreak", "hardbreak"):
            pieces.append(("\n", "<br>"))
        elif child.type == "html_inline":
            pieces.append(("\n" if _BREAK.match(child.content) else "", child.content))
        elif child.type in ("text", "code_inline", "image"):  # an image's content is its description
            pieces.append((child.content, escape(child.content)))
    if any(_MARKUP.match(html) for _, html in pieces):
        return visible_text_of(f"<html><body>{''.join(html for _, html in pieces)}</body></html>").replace("\n\n", "\n")
    return "".join(text for text, _ in pieces).strip()
