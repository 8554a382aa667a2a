"""Compose a report into the document that is typeset: numbered as on the page, with every reference's exact quotations."""

from collections.abc import Sequence
from datetime import datetime

from app.domain.citations import Citation
from app.domain.dates import write_day
from app.domain.query import Language
from app.domain.report import Report
from app.domain.value import Value
from app.exports.service.clean import clean, to_ascii, to_clean_line
from app.exports.service.document import Block, Heading, Labels, Notice, QuotedWords, Reference, ReportDocument, Text
from app.exports.service.prose import ProseReader
from app.reports.rendering.links import is_web, place_of
from app.reports.rendering.marks import mark_text, text_mark_of
from app.reports.rendering.notices import list_notices
from app.reports.rendering.numbering import Numbering, group_by_document, number_citations
from app.reports.rendering.words import WORDS, RenderingWords, byline_of, quality_of, where_of

LEGENDS = {
    Language.ENGLISH: {
        "†": "† what is cited does not support this sentence",
        "‡": "‡ what is cited speaks against this sentence",
        "¶": "¶ no citation gives this sentence's fact, or one of its numbers",
    },
    Language.CHINESE: {"†": "† 所引来源不支持此句", "‡": "‡ 所引来源与此句相悖", "¶": "¶ 此句的事实或数字没有引用可以证明"},
}
SEPARATORS = {Language.ENGLISH: "; ", Language.CHINESE: "；"}


class Manuscript(Value):
    """A report, with the facts about its run that its document needs."""

    report: Report
    question: str
    language: Language
    finished: datetime


def compose(manuscript: Manuscript) -> ReportDocument:
    """Return the document of a report."""
    report, language = manuscript.report, manuscript.language
    words, numbering = WORDS[language], number_citations(report)
    prose = ProseReader(frozenset(citation.n for citation in numbering.citations))
    blocks: list[Block] = [Notice(text=to_clean_line(notice)) for notice in list_notices(report, numbering, words)]
    for section, body in zip(report.sections, numbering.bodies, strict=True):
        blocks.append(_make_heading(section.heading, section.level - 1))
        blocks += prose.read_blocks(mark_text(body, report.claims))
    return ReportDocument(
        title=to_clean_line(report.title),
        question="" if manuscript.question == report.title else to_clean_line(manuscript.question),
        language=language.value,
        date=_write_date(manuscript.finished, language),
        blocks=tuple(blocks),
        references=tuple(_make_reference(cited, words) for cited in group_by_document(numbering.citations)),
        labels=_make_labels(report, numbering, words, language),
    )


def _make_heading(text: str, level: int) -> Heading:
    return Heading(level=level, of=(Text(text=to_clean_line(text)),))


def _make_reference(cited: Sequence[Citation], words: RenderingWords) -> Reference:
    source = cited[0].quote.source
    web = is_web(source.url)
    return Reference(
        title=to_clean_line(source.title) or words.untitled,
        about=to_clean_line(", ".join(part for part in (byline_of(source), quality_of(source, words)) if part)),
        url=source.url if web else "",
        address=to_ascii(source.url) if web else "",
        place="" if web else to_clean_line(place_of(source)),
        stored_copy=words.stored_copy.format(copy=source.snapshot[:12]),
        quotes=tuple(_make_quotation(citation, words) for citation in cited),
    )


def _make_quotation(citation: Citation, words: RenderingWords) -> QuotedWords:
    quote = citation.quote
    where = where_of(quote, words)
    return QuotedWords(n=citation.n, text=clean(quote.text).strip(), where=where)


def _make_labels(report: Report, numbering: Numbering, words: RenderingWords, language: Language) -> Labels:
    """Return the labels; the legend explains only the marks that occur."""
    marks = {text_mark_of(claim) for claim in report.claims}
    legend = SEPARATORS[language].join(told for mark, told in LEGENDS[language].items() if mark in marks)
    return Labels(
        question=words.question,
        contents=words.contents,
        sources=words.sources,
        note=words.note,
        back=words.back,
        legend=legend if numbering.bodies else "",
    )


def _write_date(moment: datetime, language: Language) -> str:
    if language is Language.CHINESE:
        return f"{moment.year}年{moment.month}月{moment.day}日"
    return write_day(moment)
