"""The sentences that a judge names as those that give a statement: they become the quotations that its reader finds.

The words that were chosen by what a statement and its passage share are often one sentence off, and in two languages they share
none. Who reads both knows better.
"""

import re
from collections.abc import Mapping, Sequence

from app.domain.citations import MARKER, MARKER_RUN, marker_of
from app.domain.evidence import Passage, Quote
from retrieval.language.paragraphs import Span
from retrieval.language.sentences import split_sentences
from workflows.agents.quoting import TextSpan, locate_quote
from workflows.agents.sentence_choice import find_beginning, quote_span
from workflows.agents.shared_terms import count_shared_terms, terms_of
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.claim_repair import TextReplacement

MOST_QUOTES = 8
_NAMED = re.compile(r"\W*(q\d{1,6})\W*?[:.]\s*(.+?)\s*(?:…|\.{3,}|$)\s*(.*)", re.DOTALL)


def find_named(said: Sequence[str], passages: Mapping[str, Passage]) -> list[Quote]:
    """Return the sentences that are named as `q3: their first words`, or as `q3: the first words … the last`.

    What names no sentence of its passage is left out. Where first words stand for something, the sentence before is with it; a
    sentence that ends with a colon has the next one with it.
    """
    named = (_NAMED.fullmatch(each.strip()) for each in said)
    known = [(passages[name[1]], name[2], name[3]) for name in named if name and name[1] in passages]
    found = (_find_sentences(passage, first, last) for passage, first, last in known)
    return list({quote.key: quote for quote in found if quote}.values())[:MOST_QUOTES]


def _find_sentences(passage: Passage, first: str, last: str) -> Quote | None:
    """Return the sentences from the one with these first words to that with the last; without these it is one."""
    begun = _locate(passage.text, first)
    if begun is None:
        return None
    ended = _locate(passage.text[begun.start :], last)
    end = begun.start + ended.end if ended else begun.end
    spans = split_sentences(passage.text)
    touched = [place for place, span in enumerate(spans) if span.start < end and span.end > begun.start]
    if not touched:
        return None
    start, place = spans[find_beginning(passage.text, spans, touched[0])].start, touched[-1]
    if passage.text[start : spans[place].end].endswith((":", "：")) and place + 1 < len(spans):
        place += 1
    return quote_span(passage, Span(start, spans[place].end))


def _locate(text: str, said: str) -> TextSpan | None:
    """Find words of a text; a word or two, which stand anywhere, only where they stand once."""
    if (found := locate_quote(text, said)) is not None or text.count(said) != 1:
        return found
    return TextSpan(text.index(said), text.index(said) + len(said))


def cite_named(draft: ClaimDraft, named: Sequence[Quote], body: str) -> tuple[list[Quote], TextReplacement]:
    """Return the quotes of a sentence that cites what was named, and its new text.

    A named sentence stands where its passage is cited, behind the words that it shares most with; at the end of all where it is
    not. A citation that gets none becomes the one of them that says most of its words, or stays where none is of its passage.
    """
    start, end = draft.sentence.start, draft.sentence.end
    by_key = {quote.key: quote for quote in draft.quotes}
    runs = list(MARKER_RUN.finditer(body, start, end))
    begins = [start, *(run.end() for run in runs)]
    said = [terms_of(body[begin : run.start()]) for begin, run in zip(begins, runs, strict=False)]
    cited = [[by_key[key] for key in MARKER.findall(run.group()) if key in by_key] for run in runs]
    near = [[quote for quote in named if _share_passage(draft, quote, own)] for own in cited]
    taken = _deal_out(named, near, said)
    taken = [own or _best_of(fit, words) or old for own, fit, words, old in zip(taken, near, said, cited, strict=True)]
    text = ""
    for begin, run, own in zip(begins, runs, taken, strict=False):
        text += body[begin : run.start()] + "".join(dict.fromkeys(map(marker_of, own)))
    quotes = list({quote.key: quote for own in taken for quote in own}.values())
    return quotes, TextReplacement(draft.section, start, end, text + body[begins[-1] : end])


def _deal_out(named: Sequence[Quote], near: Sequence[Sequence[Quote]], said: Sequence[frozenset[str]]) -> list[list[Quote]]:
    """Give each quote to one of the citations that are near it, by the words before them; to the last where none is."""
    taken: list[list[Quote]] = [[] for _ in near]
    for quote in named:
        places = [place for place, own in enumerate(near) if quote in own]
        taken[max(places, key=lambda place: count_shared_terms(quote.text, said[place]), default=-1)].append(quote)
    return taken


def _best_of(quotes: Sequence[Quote], words: frozenset[str]) -> list[Quote]:
    return [max(quotes, key=lambda quote: count_shared_terms(quote.text, words))] if quotes else []


def _share_passage(draft: ClaimDraft, quote: Quote, others: Sequence[Quote]) -> bool:
    return any(passage.holds(quote) and passage.holds(other) for passage in draft.shown for other in others)
