"""Render the report as Markdown, readable as plain text and in any viewer."""

from app.domain.citations import Citation
from app.domain.query import Language
from app.domain.report import Report
from app.reports.rendering.cautions import notices
from app.reports.rendering.links import escaped, is_web, place_of
from app.reports.rendering.marks import marked_text
from app.reports.rendering.numbering import Numbering
from app.reports.rendering.words import WORDS, Words, byline, quality, titled


def to_markdown(report: Report, numbering: Numbering, question: str, language: Language) -> str:
    """Return title, question, notices, sections, conflicts, then each citation with its exact quote."""
    words = WORDS[language]
    blocks = [f"# {escaped(report.title)}"]
    if question != report.title:
        blocks.append(f"*{words.question}: {escaped(question)}*")
    blocks += [f"> **{words.note}.** {escaped(notice)}" for notice in notices(report, numbering, words)]
    for section, body in zip(report.sections, numbering.bodies, strict=True):
        blocks += [f"{'#' * section.level} {escaped(section.heading)}", marked_text(body, report.claims)]
    blocks += conflicts(report, numbering, words)
    if numbering.citations:
        blocks.append(f"## {words.sources}")
        blocks += [_source(citation, words) for citation in numbering.citations]
    return "\n\n".join(block for block in blocks if block.strip()) + "\n"


def conflicts(report: Report, numbering: Numbering, words: Words) -> list[str]:
    """Return the disagreements whose quotes the reader can look up, as a list with their numbers."""
    numbers = {citation.quote.key: citation.n for citation in numbering.citations}
    shown = [c for c in report.conflicts if all(key in numbers for key in c.quote_keys)]
    if not shown:
        return []
    items = [f"- {escaped(c.about)} {''.join(f'[{numbers[key]}]' for key in c.quote_keys)}" for c in shown]
    return [f"## {words.conflicts}", "\n".join(items)]


def _source(citation: Citation, words: Words) -> str:
    quote, source = citation.quote, citation.quote.source
    named = [f"*{escaped(titled(source, words))}*", escaped(byline(source)), escaped(quality(source, words))]
    place = f"<{source.url}>" if is_web(source.url) else _name(place_of(source))
    where = words.characters.format(start=quote.start, end=quote.end, copy=f"`{source.snapshot[:12]}`")
    told = " ".join(part for part in (place, f"({where})") if part)
    return f"**[{citation.n}]** {', '.join(part for part in named if part)}. {told}\n\n> {escaped(quote.text)}"


def _name(place: str) -> str:
    """Return a file's name as code, on one line: no viewer turns it into anything else."""
    flat = " ".join(place.replace("`", "").split())
    return f"`{flat}`" if flat else ""
