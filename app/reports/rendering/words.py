"""The words that a rendering adds, and the names of sources."""

from datetime import date
from typing import NamedTuple

from app.domain.dates import MONTHS, write_day
from app.domain.evidence import Quote, Source
from app.domain.query import Language


class RenderingWords(NamedTuple):
    """The fixed words of one language."""

    question: str
    contents: str
    sources: str
    note: str
    untitled: str
    characters: str
    page: str
    stored_copy: str
    back: str
    retracted: str
    preprint: str
    suspicious: str


WORDS = {
    Language.ENGLISH: RenderingWords(
        "Question",
        "Contents",
        "Sources",
        "Note",
        "Untitled source",
        "characters {start}–{end}",
        "page {page}",
        "stored copy {copy}",
        "Back to the text",
        "retracted",
        "preprint",
        "Source {n} contains text that tries to instruct machines that read it ({patterns}); none of that text was followed. "
        "Read what rests on this source with care.",
    ),
    Language.CHINESE: RenderingWords(
        "问题",
        "目录",
        "来源",
        "说明",
        "无标题来源",
        "第 {start}–{end} 字符",
        "第 {page} 页",
        "存档 {copy}",
        "返回正文",
        "已撤稿",
        "预印本",
        "来源 {n} 含有试图向阅读它的机器下达指令的文字（{patterns}）；这些文字均未被执行。请谨慎看待依据该来源的内容。",
    ),
}


def title_of(source: Source, words: RenderingWords) -> str:
    """Return a source's title, or the word for none; without the full stop that ends titles of papers, since more follows."""
    return source.title.strip().removesuffix(".") or words.untitled


def where_of(quote: Quote, words: RenderingWords) -> str:
    """Return the place of a quotation in its source: its page, where that is known, and its characters in the stored copy."""
    page = (words.page.format(page=quote.page),) if quote.page else ()
    return ", ".join((*page, words.characters.format(start=quote.start, end=quote.end)))


def byline_of(source: Source) -> str:
    """Return author and date ("Andrew Jackson, 4 December 1832"), without what the title says already."""
    parts = [source.author] if source.author and source.author not in source.title else []
    if source.published is not None and not _names_day(source.title, source.published):
        parts.append(write_day(source.published))
    return ", ".join(parts)


def quality_of(source: Source, words: RenderingWords) -> str:
    """Return the venue, and whether the source was retracted or is a preprint, as far as it is known."""
    status = words.retracted if source.retracted else words.preprint if source.preprint else ""
    return ", ".join(part for part in (source.venue, status) if part)


def _names_day(title: str, day: date) -> bool:
    """Return True when the title names the day in one of the usual forms."""
    forms = (day.isoformat(), f"{MONTHS[day.month - 1]} {day.day}, {day.year}", write_day(day))
    return any(form in title for form in forms)
