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
from workflows.agents.quoting import locate_quote
from workflows.agents.sentence_choice import find_beginning, quote_span
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.claim_repair import TextReplacement

MOST_QUOTES = 8
_NAMED = re.compile(r"\W*(q\d{1,6})\W*?[:.]\s*(.+?)\s*(?:…|\.{3,}|$)\s*(.*)", re.DOTALL)


def find_named(said: Sequence[str], passages: Mapping[str, Passage]) -> list[Quote]:
    """Return the sentences that are named as `q3: their first words`, or as `q3: the first words … the last`.

    What names no sentence of its passage is left out. Where first words stand for something, the sentence before is with it.
    """
    named = (_NAMED.fullmatch(each.strip()) for each in said)
    known = [(passages[name[1]], name[2], name[3]) for name in named if name and name[1] in passages]
    found = (_find_sentences(passage, first, last) for passage, first, last in known)
    return list({quote.key: quote for quote in found if quote}.values())[:MOST_QUOTES]


def _find_sentences(passage: Passage, first: str, last: str) -> Quote | None:
    """Return the sentences from the one with these first words to that with the last; without these it is one."""
    begun = locate_quote(passage.text, first)
    if begun is None:
        return None
    rest = passage.text[begun.start :]
    ended = locate_quote(rest, last) if last else None
    end = begun.start + ended.end if ended else begun.end
    spans = split_sentences(passage.text)
    touched = [place for place, span in enumerate(spans) if span.start < end and span.end > begun.start]
    if not touched:
        return None
    start = spans[find_beginning(passage.text, spans, touched[0])].start
    return quote_span(passage, Span(start, spans[touched[-1]].end))


def cite_named(draft: ClaimDraft, named: Sequence[Quote], body: str) -> tuple[list[Quote], TextReplacement]:
    """Return the quotes of a sentence that cites what was named, and its new text.

    A citation becomes those of the named sentences that stand in its passage, where there are any; the others join the last one.
    """
    start, end = draft.sentence.start, draft.sentence.end
    by_key = {quote.key: quote for quote in draft.quotes}
    runs = list(MARKER_RUN.finditer(body, start, end))
    cited = [[by_key[key] for key in MARKER.findall(run.group()) if key in by_key] for run in runs]
    taken = [[quote for quote in named if any(_share_passage(draft, quote, old) for old in own)] or own for own in cited]
    placed = {quote.key for own in taken for quote in own}
    taken[-1] = [*taken[-1], *(quote for quote in named if quote.key not in placed)]
    text, at = "", start
    for run, own in zip(runs, taken, strict=True):
        text += body[at : run.start()] + "".join(dict.fromkeys(map(marker_of, own)))
        at = run.end()
    quotes = list({quote.key: quote for own in taken for quote in own}.values())
    return quotes, TextReplacement(draft.section, start, end, text + body[at:end])


def _share_passage(draft: ClaimDraft, quote: Quote, other: Quote) -> bool:
    return any(passage.holds(quote) and passage.holds(other) for passage in draft.shown)
