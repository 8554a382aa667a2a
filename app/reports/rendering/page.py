"""Render the report as one HTML page that needs nothing else: no script, no outside file; it works offline and in print.

Every [n] leads to its quote, shown with the words around it in the stored copy of the source. The page is
made from the safe Markdown and cleaned once more, so that an error in one of the two steps alone does no harm.
"""

import html
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files

import nh3
from markdown_it import MarkdownIt

from app.domain.citations import Citation
from app.domain.query import Language
from app.domain.report import Report
from app.reports.rendering.links import is_web
from app.reports.rendering.marks import mark_page
from app.reports.rendering.notices import list_notices
from app.reports.rendering.numbering import Numbering, group_by_document
from app.reports.rendering.words import WORDS, RenderingWords, byline_of, quality_of, title_of, where_of
from app.reports.storage.reports import Surroundings

TAGS = {
    "p",
    "em",
    "strong",
    "ul",
    "ol",
    "li",
    "blockquote",
    "code",
    "pre",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "a",
    "br",
    "hr",
}
SCHEMES = {"http", "https"}
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
NUMBER_OR_CODE = re.compile(r"\[(\d{1,4})\]|<code>.*?</code>", re.DOTALL)
HOVER_CHARS = 280
_STYLE = files("app.reports.rendering").joinpath("page.css").read_text(encoding="utf-8")
_CLEANER = nh3.Cleaner(tags=TAGS, attributes=ATTRIBUTES, url_schemes=SCHEMES)
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def to_page(report: Report, numbering: Numbering, question: str, language: Language, around: Mapping[int, Surroundings]) -> str:
    """Return the whole page. `around` gives, by citation number, the text before and after its quote."""
    words = WORDS[language]
    hovers = {c.n: _shorten(c.quote.text) for c in numbering.citations}
    seen: set[int] = set()
    parts = [
        _render_head(report.title, question, language, words),
        _render_notices(list_notices(report, numbering, words), words),
        _render_contents(report, words),
    ]
    for index, (section, body) in enumerate(zip(report.sections, numbering.bodies, strict=True), start=1):
        parts.append(f'<h{section.level} id="s{index}">{html.escape(section.heading)}</h{section.level}>')
        parts.append(mark_page(render_prose(body, hovers, seen), report.claims))
    if numbering.citations:
        parts.append(f'<h2 id="sources">{words.sources}</h2>')
        parts += [_render_document(cited, around, words) for cited in group_by_document(numbering.citations)]
    parts.append("</main></body></html>\n")
    return "\n".join(part for part in parts if part)


def _render_head(title: str, question: str, language: Language, words: RenderingWords) -> str:
    asked = "" if question == title else f'\n<p class="question"><b>{words.question}</b> {html.escape(question)}</p>'
    return (
        f'<!doctype html>\n<html lang="{language.value}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style></head>\n<body><main>"
        f"<h1>{html.escape(title)}</h1>{asked}"
    )


def _render_notices(said: tuple[str, ...], words: RenderingWords) -> str:
    return "\n".join(f'<p class="notice"><b>{words.note}</b> {html.escape(notice)}</p>' for notice in said)


def _render_contents(report: Report, words: RenderingWords) -> str:
    """Return a table of contents, where there are three sections or more."""
    entries = [(i, s) for i, s in enumerate(report.sections, start=1) if s.level == 2]
    if len(entries) < 3:
        return ""
    items = "".join(f'<li><a href="#s{i}">{html.escape(s.heading)}</a></li>' for i, s in entries)
    return f'<nav aria-label="{words.contents}"><b>{words.contents}</b><ol>{items}</ol></nav>'


def clean_prose(page: str) -> str:
    """Return HTML with those tags, attributes and addresses alone that the text of a report may have."""
    return _CLEANER.clean(page)


def render_prose(markdown: str, hovers: Mapping[int, str], seen: set[int]) -> str:
    """Return Markdown as HTML whose numbers lead to quotes. `hovers` are these by number; `seen` numbers have an anchor."""
    clean = clean_prose(_MARKDOWN.render(markdown))

    def link(match: re.Match[str]) -> str:
        n = int(match.group(1) or 0)
        if n not in hovers:
            return match.group(0)
        anchor = "" if n in seen else f' id="r{n}"'
        seen.add(n)
        return f'<a class="cite"{anchor} href="#c{n}" title="{html.escape(hovers[n])}">[{n}]</a>'

    return NUMBER_OR_CODE.sub(link, clean)


def _render_document(cited: Sequence[Citation], around: Mapping[int, Surroundings], words: RenderingWords) -> str:
    source = cited[0].quote.source
    title = html.escape(title_of(source, words))
    named = (
        f'<a href="{html.escape(source.url)}" rel="noopener noreferrer">{title}</a>' if is_web(source.url) else f"<b>{title}</b>"
    )
    about = html.escape("".join(f", {part}" for part in (byline_of(source), quality_of(source, words)) if part))
    copy = html.escape(words.stored_copy.format(copy=source.snapshot[:12]))
    quotes = "\n".join(_render_quote(citation, around[citation.n], words) for citation in cited)
    return f'<div class="source">{named}{about} <span class="where">({copy})</span></div>\n<ol class="sources">\n{quotes}\n</ol>'


def _render_quote(citation: Citation, around: Surroundings, words: RenderingWords) -> str:
    quote = citation.quote
    where = where_of(quote, words)
    before = f'<span class="around">…{html.escape(around.before)}</span>' if around.before else ""
    after = f'<span class="around">{html.escape(around.after)}…</span>' if around.after else ""
    return (
        f'<li id="c{citation.n}" value="{citation.n}">'
        f"<blockquote>{before}<mark>{html.escape(quote.text)}</mark>{after}</blockquote>"
        f'<div class="where">{html.escape(where)} · '
        f'<a href="#r{citation.n}" aria-label="{words.back} [{citation.n}]">↩</a></div></li>'
    )


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= HOVER_CHARS else flat[: HOVER_CHARS - 1] + "…"
