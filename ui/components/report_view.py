"""The report as a page to read: each [n] opens the exact words it stands for and where they were taken from."""

import re
from collections.abc import Sequence
from urllib.parse import urlencode

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ui.components.markup import host, link, text
from ui.models import Citation, Report

NUMBER = re.compile(r"\[(\d{1,4})\]")
SOURCES_HEADING = re.compile(r"\n#{1,3} +(?:Sources|References|来源|参考来源|参考文献)\s*\n(?!.*\n#{1,3} )", re.DOTALL)

QUESTION_LINE = re.compile(r"^\*(?:Question|问题): .*\*\n", re.MULTILINE)


def article_html(report: Report) -> str:
    """The text with its citations as buttons, followed by the card that each button opens.

    The list of sources at the end of the Markdown is left out; `sources_html` shows it beside the text.
    """
    known = {citation.n: citation for citation in report.citations}
    return f'<article class="r-report">{_render(body_of(report.markdown), known)}</article>'


def body_of(markdown: str) -> str:
    """The report without its closing list of sources and without the line that repeats the question."""
    found = SOURCES_HEADING.search(markdown)
    return QUESTION_LINE.sub("", markdown[: found.start()] if found else markdown, count=1)


def cards_html(report: Report, run_id: str) -> str:
    """One card per citation: the exact quote, its source, and the way to the passage in the stored copy."""
    return "".join(_card(citation, run_id) for citation in report.citations)


def sources_html(citations: Sequence[Citation]) -> str:
    """The sources in order of first citation, each with the numbers that rest on it."""
    by_source: dict[tuple[str, str], list[Citation]] = {}
    for citation in citations:
        by_source.setdefault((citation.source.url, citation.source.title), []).append(citation)
    items = []
    for (url, title), cited in by_source.items():
        numbers = "".join(_button(citation) for citation in cited)
        where = f'<div class="r-quiet">{text(host(url))}</div>'
        items.append(f'<li>{link(url, title or url)}{where}<div class="nums">{numbers}</div></li>')
    return f'<ul class="r-sources">{"".join(items)}</ul>'


def place_of(run_id: str, citation: Citation) -> str:
    """The address, relative to the page, that shows the quote within the stored copy of its source."""
    return "source?" + urlencode({"run": run_id, "n": citation.n})


def _render(markdown: str, known: dict[int, Citation]) -> str:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(markdown)
    for token in tokens:
        if token.children:
            token.children = [piece for child in token.children for piece in _with_buttons(child, known)]
    return str(parser.renderer.render(tokens, parser.options, {}))


def _with_buttons(token: Token, known: dict[int, Citation]) -> list[Token]:
    if token.type != "text":
        return [token]
    pieces: list[Token] = []
    for position, part in enumerate(NUMBER.split(token.content)):
        if position % 2 and int(part) in known:
            pieces.append(Token("html_inline", "", 0, content=_button(known[int(part)])))
        else:
            pieces.append(Token("text", "", 0, content=f"[{part}]" if position % 2 else part))
    return pieces


def _button(citation: Citation) -> str:
    label = text(f"Citation {citation.n}: {citation.source.title}")
    return f'<button class="r-cite" popovertarget="cite-{citation.n}" aria-label="{label}">{citation.n}</button>'


def _card(citation: Citation, run_id: str) -> str:
    source = citation.source
    return (
        f'<div popover id="cite-{citation.n}" class="r-pop"><blockquote>{text(citation.quote)}</blockquote>'
        f"<strong>{link(source.url, source.title or source.url)}</strong>"
        f'<div class="where"><span>{text(host(source.url))}</span><span>characters {citation.start:,} to {citation.end:,}</span>'
        f'<a href="{text(place_of(run_id, citation))}" target="_blank">Read it in its place</a></div></div>'
    )
