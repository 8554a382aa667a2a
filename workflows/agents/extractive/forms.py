"""The form a reader chose, given to quoted statements: how many there are, and how they are laid out. No word of them changes."""

from collections.abc import Mapping, Sequence

from app.domain.citations import MARKER
from app.domain.evidence import Quote
from app.domain.options import Length, ReportFormat, ReportStyle
from app.domain.query import Language
from app.domain.report import Section
from workflows.agents.extractive.attribution import escaped, quoted, when
from workflows.agents.extractive.phrasing import phrases_in

STATEMENT_SCALE = {Length.SHORT: 0.5, Length.MEDIUM: 1.0, Length.LONG: 1.6}
MOST_ROWS = 20
_LISTED = ("- ", "|")


def statement_scale(style: ReportStyle | None) -> float:
    """How many statements the report has, against the usual number."""
    return STATEMENT_SCALE[style.length] if style and style.length else 1.0


def shaped(
    sections: Sequence[Section],
    quotes: Mapping[str, Quote],
    style: ReportStyle | None,
    language: Language,
    answering: int = 1,
    further: int = 0,
) -> list[Section]:
    """The sections in the reader's format; the first `answering` of them and the last `further` are those that answer."""
    match style.format if style else None:
        case ReportFormat.BRIEF:
            return [*sections[:answering], *sections[len(sections) - further :]]
        case ReportFormat.BULLETS:
            return [section.model_copy(update={"body": _bullets(section.body)}) for section in sections]
        case ReportFormat.TABLE_FIRST:
            return [*_table(sections, quotes, language), *sections]
        case _:
            return list(sections)


def unmet(style: ReportStyle | None, language: Language) -> str:
    """What of the style nobody can follow who only quotes; empty when there is nothing."""
    return phrases_in(language).style_unmet if style and (style.tone or style.audience) else ""


def _bullets(body: str) -> str:
    """Every paragraph a list item; lists and tables stay as they are."""
    blocks = [block for block in body.split("\n\n") if block.strip()]
    return "\n\n".join(block if block.startswith(_LISTED) else f"- {block}" for block in blocks)


def _table(sections: Sequence[Section], quotes: Mapping[str, Quote], language: Language) -> list[Section]:
    """One row a cited statement: who, when, and the statement in the source's words."""
    cited = dict.fromkeys(key.strip() for section in sections for key in MARKER.findall(section.body))
    rows = [_row(quotes[key], language) for key in list(cited)[:MOST_ROWS] if key in quotes]
    if not rows:
        return []
    words = phrases_in(language)
    head = f"| {' | '.join(words.columns)} |\n|{'---|' * len(words.columns)}"
    return [Section(heading=words.at_a_glance, body="\n".join([head, *rows]))]


def _row(quote: Quote, language: Language) -> str:
    who = escaped(quote.source.author or quote.source.title)
    return f"| {who} | {when(quote.source, language) or '–'} | {quoted(quote)} |"
