"""Who said it and when: the glue between quotations, made of the sources' metadata alone."""

import re
from dataclasses import dataclass

from app.domain.citations import marker_of
from app.domain.evidence import Quote, Source
from app.domain.query import Language
from workflows.agents.extractive.phrasing import phrases_in
from workflows.agents.extractive.words import listed, terms

_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")
_FINISHED = re.compile(r"[.!?。！？…][\"”'’」』)）\]]*$")
_CHINESE_DATE = "{date.year}年{date.month}月"
_SMALL = listed("""
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
""")
_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
MOST_GAP = 60


def escaped(text: str) -> str:
    """Text on one line that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def quoted(quote: Quote) -> str:
    """A quotation in quotation marks with its marker; an ellipsis where the sentence goes on."""
    text = escaped(quote.text).rstrip(";,；，")
    before = "… " if text[:1].islower() else ""
    after = "" if _FINISHED.search(quote.text) else " …"
    return f"“{before}{text}{after}”{marker_of(quote)}"


@dataclass(slots=True)
class Narrator:
    """Introduces quotations one after the other, each in view of the last: same source, same author, years passed."""

    language: Language
    _turn: int = 0
    _last: Quote | None = None

    def introduce(self, quote: Quote) -> str:
        """The words before a quotation, ending in a colon and a blank; empty when the quotation names its source's title."""
        last, self._last = self._last, quote
        words, source = phrases_in(self.language), quote.source
        if last is not None and last.source.url == source.url and quote.start > last.end:
            return words.further
        if not source.author:
            return self._untitled(quote)
        if source.published is None:
            return words.undated.format(who=escaped(source.author), title=title_of(source))
        return self._dated(source, last.source if last else None)

    def _dated(self, source: Source, last: Source | None) -> str:
        """By author and date; after the same author the date alone, and now and then the years passed instead."""
        words, who, gap = phrases_in(self.language), escaped(source.author), years_between(last, source)
        self._turn += 1
        same = last is not None and last.author == source.author
        if 1 <= gap <= MOST_GAP and self._turn % 3 == 0:
            passed = words.year_later if gap == 1 else words.years_later.format(years=spelled(gap, self.language))
            return (words.later_again if same else words.later).format(gap=passed, who=who)
        if same and last is not None and when(last, self.language) == when(source, self.language):
            return words.also.format(when=when(source, self.language))
        if same:
            return words.again[self._turn % len(words.again)].format(when=when(source, self.language))
        return words.said[self._turn % len(words.said)].format(who=who, when=when(source, self.language))

    def _untitled(self, quote: Quote) -> str:
        words, source = phrases_in(self.language), quote.source
        if set(terms(source.title)) <= set(terms(quote.text)):
            return ""
        if source.published is None:
            return words.titled.format(title=title_of(source))
        return words.titled_dated.format(title=title_of(source), when=when(source, self.language))


def credit(quote: Quote, language: Language) -> str:
    """Author or title, and date, before a statement that stands alone; empty where the quotation itself names its title."""
    words, source = phrases_in(language), quote.source
    if not source.author and source.published is None and set(terms(source.title)) <= set(terms(quote.text)):
        return ""
    who = escaped(source.author) if source.author else title_of(source)
    if source.published is None:
        return words.titled.format(title=who)
    return words.titled_dated.format(title=who, when=when(source, language))


def spelled(number: int, language: Language) -> str:
    """A number from 1 to 99 as it begins an English sentence; digits in Chinese."""
    if language is Language.CHINESE or not 1 <= number <= 99:
        return str(number)
    tens, ones = divmod(number, 10)
    word = _SMALL[number] if number < 20 else _TENS[tens] + (f"-{_SMALL[ones]}" if ones else "")
    return word.capitalize()


def title_of(source: Source) -> str:
    """A source's title in italics."""
    return f"*{escaped(source.title.rstrip('.'))}*"


def when(source: Source, language: Language) -> str:
    """Month and year of publication; the year alone for the first of January, which usually stands for an unknown day."""
    published = source.published
    if published is None:
        return ""
    if (published.month, published.day) == (1, 1):
        return f"{published.year}年" if language is Language.CHINESE else str(published.year)
    return _CHINESE_DATE.format(date=published) if language is Language.CHINESE else f"{published:%B} {published.year}"


def years_between(earlier: Source | None, later: Source) -> int:
    """Whole years from one source to the next, 0 when either has no date."""
    if earlier is None or earlier.published is None or later.published is None:
        return 0
    return later.published.year - earlier.published.year
