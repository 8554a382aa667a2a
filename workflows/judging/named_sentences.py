"""The sentences that a judge names as those that give a statement: they become the quotations that its reader finds.

The words that were chosen by what a statement and its passage share are often one sentence off, and in two languages they share
none. Who reads both knows better.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from app.domain.citations import MARKER, MARKER_RUN, marker_of
from app.domain.evidence import Passage, Quote
from retrieval.language.paragraphs import Span
from retrieval.language.sentences import split_sentences
from workflows.agents.sentence_choice import QUOTE_CHARS, find_beginning, quote_span
from workflows.agents.untrusted import as_data
from workflows.judging.claim_draft import ClaimDraft
from workflows.judging.claim_repair import TextReplacement

MOST_QUOTES, MOST_SENTENCES = 8, 12
_NAME = re.compile(r"S(\d{1,4})\.(\d{1,5})(?:\s*[-–]\s*(?:S\d{1,4}\.)?(\d{1,5}))?")


def number_sentences(text: str) -> str:
    """Return a text as data, with a number before each sentence."""
    spans, at, shown = split_sentences(text), 0, []
    for number, (start, end) in enumerate(spans, 1):
        shown += [as_data(text[at:start]), f"⟨{number}⟩ ", as_data(text[start:end])]
        at = end
    return "".join([*shown, as_data(text[at:])])


def find_named(said: str, stretches: Mapping[str, Passage]) -> list[Quote]:
    """Return the sentences that are named as `S3.4` or `S3.4-6`; neighbours make one quotation.

    So does one whose first words stand for something with the sentence before it.
    """
    wanted: list[tuple[str, int]] = []
    for stretch, first, last in _NAME.findall(said):
        wanted += [(f"S{stretch}", number) for number in range(int(first), int(last or first) + 1)][:MOST_SENTENCES]
    found: list[Quote] = []
    for name, own in groupby(dict.fromkeys(wanted), key=lambda each: each[0]):
        if name in stretches:
            found += _quote_runs(stretches[name], sorted(number for _, number in own))
    return found[:MOST_QUOTES]


def _quote_runs(stretch: Passage, numbers: Sequence[int]) -> list[Quote]:
    spans = split_sentences(stretch.text)
    known = [number - 1 for number in numbers if 1 <= number <= len(spans)]
    runs: list[Span] = []
    for place in sorted({*known, *(find_beginning(stretch.text, spans, place) for place in known)}):
        start, end = spans[place]
        if runs and not stretch.text[runs[-1].end : start].strip() and end - runs[-1].start <= QUOTE_CHARS:
            runs[-1] = Span(runs[-1].start, end)
        else:
            runs.append(Span(start, end))
    return [quote_span(stretch, run) for run in runs]


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
