"""The few words a rendering adds of its own, and how a source is named."""

from typing import NamedTuple

from app.domain.evidence import Source
from app.domain.query import Language


class Words(NamedTuple):
    """Fixed words of one language."""

    question: str
    contents: str
    sources: str
    note: str
    conflicts: str
    untitled: str
    characters: str
    back: str


WORDS = {
    Language.ENGLISH: Words(
        "Question",
        "Contents",
        "Sources",
        "Note",
        "Where the sources disagree",
        "Untitled source",
        "characters {start}–{end} of the stored copy {copy}",
        "Back to the text",
    ),
    Language.CHINESE: Words(
        "问题", "目录", "来源", "说明", "来源之间的分歧", "无标题来源", "存档 {copy} 第 {start}–{end} 字符", "返回正文"
    ),
}


def byline(source: Source) -> str:
    """Author and date, as far as known: "Andrew Jackson, 4 December 1832"."""
    parts = [source.author] if source.author else []
    if source.published is not None:
        parts.append(f"{source.published.day} {source.published:%B} {source.published.year}")
    return ", ".join(parts)
