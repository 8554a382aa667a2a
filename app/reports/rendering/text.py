"""Render the report as Markdown, readable as plain text and in any viewer."""

from collections.abc import Sequence

from app.domain.citations import Citation
from app.domain.query import Language
from app.domain.report import Report
from app.reports.rendering.links import escape_markdown, is_web, place_of
from app.reports.rendering.marks import mark_text
from app.reports.rendering.notices import list_notices
from app.reports.rendering.numbering import Numbering, group_by_document
from app.reports.rendering.words import WORDS, RenderingWords, byline_of, quality_of, title_of, where_of


def to_markdown(report: Report, numbering: Numbering, question: str, language: Language) -> str:
    """Return title, question, notices, sections, then each cited document with its exact quotes."""
    words = WORDS[language]
    blocks = [f"# {escape_markdown(report.title)}"]
    if question != report.title:
        blocks.append(f"*{words.question}: {escape_markdown(question)}*")
    blocks += [f"> **{words.note}.** {escape_markdown(notice)}" for notice in list_notices(report, numbering, words)]
    for section, body in zip(report.sections, numbering.bodies, strict=True):
        blocks += [f"{'#' * section.level} {escape_markdown(section.heading)}", mark_text(body, report.claims)]
    if numbering.citations:
        blocks.append(f"## {words.sources}")
        blocks += [_render_document(cited, words) for cited in group_by_document(numbering.citations)]
    return "\n\n".join(block for block in blocks if block.strip()) + "\n"


def _render_document(cited: Sequence[Citation], words: RenderingWords) -> str:
    source = cited[0].quote.source
    named = [
        f"*{escape_markdown(title_of(source, words))}*",
        escape_markdown(byline_of(source)),
        escape_markdown(quality_of(source, words)),
    ]
    place = f"<{source.url}>" if is_web(source.url) else _render_name(place_of(source))
    told = " ".join(part for part in (place, f"({words.stored_copy.format(copy=f'`{source.snapshot[:12]}`')})") if part)
    quotes = "\n".join(_render_quote(citation, words) for citation in cited)
    return f"{', '.join(part for part in named if part)}. {told}\n\n{quotes}"


def _render_quote(citation: Citation, words: RenderingWords) -> str:
    quote = citation.quote
    where = where_of(quote, words)
    return f"- **[{citation.n}]** “{escape_markdown(quote.text)}” ({where})"


def _render_name(place: str) -> str:
    """Return a file's name as code, on one line: no viewer turns it into anything else."""
    flat = " ".join(place.replace("`", "").split())
    return f"`{flat}`" if flat else ""
