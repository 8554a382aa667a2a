"""Compose a report into the document that is typeset: numbered as on the page, with every reference's exact quotation."""

from datetime import datetime

from app.domain.citations import Citation
from app.domain.claims import Support
from app.domain.query import Language
from app.domain.report import Report
from app.domain.value import Value
from app.exports.service.clean import clean, in_ascii, one_line
from app.exports.service.document import Block, Document, Heading, Labels, Notice, Reference, Text
from app.exports.service.prose import Prose
from app.reports.rendering.cautions import notices
from app.reports.rendering.links import is_web, place_of
from app.reports.rendering.marks import TEXT_MARKS, marked_text
from app.reports.rendering.numbering import Numbering, numbered
from app.reports.rendering.text import conflicts
from app.reports.rendering.words import WORDS, Words, byline, quality

LEGENDS = {
    Language.ENGLISH: {
        Support.NONE: "† what is cited does not support this sentence",
        Support.CONTRADICTED: "‡ what is cited speaks against this sentence",
    },
    Language.CHINESE: {Support.NONE: "† 所引来源不支持此句", Support.CONTRADICTED: "‡ 所引来源与此句相悖"},
}
SEPARATORS = {Language.ENGLISH: "; ", Language.CHINESE: "；"}


class Manuscript(Value):
    """A report, with the facts about its run that its document needs."""

    report: Report
    question: str
    language: Language
    finished: datetime


def compose(manuscript: Manuscript) -> Document:
    """Return the document of a report."""
    report, language = manuscript.report, manuscript.language
    words, numbering = WORDS[language], numbered(report)
    prose = Prose(frozenset(citation.n for citation in numbering.citations))
    blocks: list[Block] = [Notice(text=one_line(notice)) for notice in notices(report, numbering, words)]
    for section, body in zip(report.sections, numbering.bodies, strict=True):
        blocks.append(_heading(section.heading, section.level - 1))
        blocks += prose.blocks(marked_text(body, report.claims))
    if listed := conflicts(report, numbering, words):
        blocks += [_heading(words.conflicts, 1), *prose.blocks(listed[1])]
    return Document(
        title=one_line(report.title),
        question="" if manuscript.question == report.title else one_line(manuscript.question),
        language=language.value,
        date=_date(manuscript.finished, language),
        blocks=tuple(blocks),
        references=tuple(_reference(citation, words) for citation in numbering.citations),
        labels=_labels(report, numbering, words, language),
    )


def _heading(text: str, level: int) -> Heading:
    return Heading(level=level, of=(Text(text=one_line(text)),))


def _reference(citation: Citation, words: Words) -> Reference:
    quote, source = citation.quote, citation.quote.source
    web = is_web(source.url)
    return Reference(
        n=citation.n,
        title=one_line(source.title) or words.untitled,
        about=one_line(", ".join(part for part in (byline(source), quality(source, words)) if part)),
        url=source.url if web else "",
        address=in_ascii(source.url) if web else "",
        place="" if web else one_line(place_of(source)),
        quote=clean(quote.text).strip(),
        where=words.characters.format(start=quote.start, end=quote.end, copy=source.snapshot[:12]),
    )


def _labels(report: Report, numbering: Numbering, words: Words, language: Language) -> Labels:
    """Return the labels; the legend explains only the marks that occur."""
    supports = {claim.support for claim in report.claims}
    legend = SEPARATORS[language].join(LEGENDS[language][support] for support in TEXT_MARKS if support in supports)
    return Labels(
        question=words.question,
        contents=words.contents,
        sources=words.sources,
        note=words.note,
        back=words.back,
        legend=legend if numbering.bodies else "",
    )


def _date(moment: datetime, language: Language) -> str:
    if language is Language.CHINESE:
        return f"{moment.year}年{moment.month}月{moment.day}日"
    return f"{moment.day} {moment:%B} {moment.year}"
