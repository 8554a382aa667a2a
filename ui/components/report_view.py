"""A report as a page to read: numbers open the words they stand for, and doubtful claims are marked."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rubrica_client.models import Citation, Claim
from ui.components.claim_marks import mark_claims, squeeze
from ui.components.claims_view import is_doubtful, list_claims
from ui.components.markup import escape, link_html, site_of
from ui.components.run_list import shorten_question
from ui.language import say, say_count
from ui.report import PageReport

NUMBER = re.compile(r"\[(\d{1,4})\]")
SOURCES_HEADING = re.compile(r"\n#{1,3} +(?:Sources|References|来源|参考来源|参考文献)\s*\n(?!.*\n#{1,3} )", re.DOTALL)
QUESTION_LINE = re.compile(r"^\*(?:Question|问题): .*\*\n", re.MULTILINE)
OUTLINED = ("h2", "h3")
LONGEST_NOTICE = 80
HEADING_TOKENS = 3  # it opens, its words, it closes


@dataclass(frozen=True)
class OutlineHeading:
    """A heading of the report: its text, its depth (2 or 3), and the anchor of its section on the page."""

    text: str
    level: int
    anchor: str


@dataclass(frozen=True)
class Article:
    """A report ready to show: its HTML and its outline."""

    html: str
    outline: tuple[OutlineHeading, ...]


def make_article(report: PageReport, mark: str = "", sections: Sequence[str] = ()) -> Article:
    """Return the report's text and outline. Each [n] is a button that names its citation; doubtful claims are marked.

    The headings of `sections`, in their order, get a button that names the section's place among them, counted from 0.

    The list of sources at the end of the Markdown is left out; `sources_html` shows it beside the text. `mark` goes before the
    names of citations and claims, to keep two reports on one page apart.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(strip_report(report.markdown))
    known = {citation.n: citation for citation in report.citations}
    doubts = {n: claim for n, claim in enumerate(report.claims) if is_doubtful(claim)}
    for token in tokens:
        if token.children:
            buttons = [piece for child in token.children for piece in _insert_citation_buttons(child, known, mark)]
            token.children = mark_claims(buttons, doubts, mark)
    outline = tuple(_anchor_headings(tokens))
    _add_change_buttons(tokens, sections)
    html = str(parser.renderer.render(list(_wrap_sections(_fold_notices(tokens))), parser.options, {}))
    return Article(f'<article class="r-report">{html}</article>', outline)


def strip_report(markdown: str) -> str:
    """Return the report without its closing list of sources and without the line that repeats the question."""
    closing = SOURCES_HEADING.search(markdown)
    return QUESTION_LINE.sub("", markdown[: closing.start()] if closing else markdown, count=1)


def outline_html(outline: Sequence[OutlineHeading]) -> str:
    """Return the headings as links into the text, as HTML."""
    items = "".join(
        f'<li class="l{heading.level}"><a href="#{heading.anchor}">{escape(heading.text)}</a></li>' for heading in outline
    )
    return f'<nav aria-label="{escape(say("read.contents"))}"><ol class="r-outline">{items}</ol></nav>'


def folded_outline_html(outline: Sequence[OutlineHeading]) -> str:
    """Return the headings, folded, for a narrow screen: there what stands beside the text elsewhere comes after its end."""
    return f'<details class="r-contents"><summary>{escape(say("read.contents"))}</summary>{outline_html(outline)}</details>'


def cited_sources_html(citations: Sequence[Citation]) -> str:
    """Return the sources as HTML, in order of first citation, each with the numbers that cite it."""
    by_source: dict[str, list[Citation]] = {}
    for citation in citations:
        by_source.setdefault(citation.source.url, []).append(citation)
    items = []
    for url, cited in by_source.items():
        title = cited[0].source.title
        numbers = "".join(_citation_button_html(citation) for citation in cited)
        where = f'<div class="r-quiet">{escape(site_of(url))}</div>'
        items.append(f'<li>{link_html(url, title or url)}{where}<div class="nums">{numbers}</div></li>')
    count = escape(say("read.cited_sources", sources=say_count("source", len(by_source))))
    return f'<p class="r-quiet">{count}</p><ul class="r-sources">{"".join(items)}</ul>'


def _anchor_headings(tokens: Sequence[Token]) -> Iterator[OutlineHeading]:
    """Yield the headings, and give each an anchor on the way."""
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag in OUTLINED:
            anchor = f"s-{opening.map[0] if opening.map else id(opening)}"
            opening.attrSet("id", anchor)
            words = "".join(child.content for child in inline.children or () if child.type in ("text", "code_inline"))
            yield OutlineHeading(words, int(opening.tag[1]), anchor)


def _fold_notices(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with the notices, which are the quotations that open a report, folded into the line of the first."""
    first = last = HEADING_TOKENS if tokens[:1] and tokens[0].tag == "h1" else 0
    notices = []
    while last < len(tokens) and tokens[last].type == "blockquote_open":
        close = next(n for n in range(last, len(tokens)) if tokens[n].type == "blockquote_close" and not tokens[n].level)
        notices.append("".join(child.content for t in tokens[last:close] for child in t.children or () if child.type == "text"))
        last = close + 1
    if not notices:
        return list(tokens)
    line = shorten_question(notices[0], LONGEST_NOTICE) + (f" (+{len(notices) - 1})" if len(notices) > 1 else "")
    summary = _html_token(f'<details class="r-notices"><summary>{escape(line)}</summary>')
    return [*tokens[:first], summary, *tokens[first:last], _html_token("</details>"), *tokens[last:]]


def _wrap_sections(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens with each second-level section in its own element, so that a browser lays it out only when it is near."""
    inside = False
    for token in tokens:
        if token.type == "heading_open" and token.tag == "h2" and token.level == 0:
            yield _html_token(f"{'</section>' if inside else ''}<section>")
            inside = True
        yield token
    if inside:
        yield _html_token("</section>")


def _html_token(content: str) -> Token:
    return Token("html_block", "", 0, content=content)


def _add_change_buttons(tokens: Sequence[Token], sections: Sequence[str]) -> None:
    """Add a button to the heading of each section. A heading that is not in `sections`, or out of order, gets none."""
    following = 0
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        heading = squeeze("".join(child.content for child in inline.children or ()))
        place = next((n for n in range(following, len(sections)) if squeeze(sections[n]) == heading), None)
        if place is not None and inline.children is not None:
            following = place + 1
            label = escape(say("change.section", heading=sections[place]))
            button = (
                f'<button type="button" class="r-change" data-section="{place}" aria-label="{label}" title="{label}">✎</button>'
            )
            inline.children = [*inline.children, Token("html_inline", "", 0, content=button)]


def _insert_citation_buttons(token: Token, known: dict[int, Citation], mark: str) -> Iterator[Token]:
    if token.type != "text":
        yield token
        return
    for position, part in enumerate(NUMBER.split(token.content)):
        if position % 2 and int(part) in known:
            yield Token("html_inline", "", 0, content=_citation_button_html(known[int(part)], mark), level=token.level)
        else:
            yield Token("text", "", 0, content=f"[{part}]" if position % 2 else part, level=token.level)


def _citation_button_html(citation: Citation, mark: str = "") -> str:
    label = escape(say("read.citation", n=citation.n, title=citation.source.title))
    return f'<button type="button" class="r-cite" data-cite="{mark}{citation.n}" aria-label="{label}">{citation.n}</button>'


def claims_citing(claims: Sequence[Claim], n: int) -> tuple[Claim, ...]:
    """Return the claims that rest on this citation; of a table, its rows."""
    return tuple(claim for _, claim in list_claims(claims) if n in claim.citations)
