"""Comparing two reports on the same question: what is new, what is gone, and which old claims no longer hold.

No model is asked; words decide what is the same. The same statement in other words is nothing new, and a source that was fetched
again has not changed while the cited words stand in it. A table's row is one claim, and what is told of a claim that no longer
holds, with the words that came in the place of the old ones, is not told again as a changed passage or a new claim.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import SequenceMatcher

from app.domain.changes import FallenClaim, FallReason, NewClaim, PassageChange, ReportChanges, ShownWords
from app.domain.citations import MARKER
from app.domain.claims import Claim, Support
from app.domain.evidence import Passage, Quote, snapshot_hash
from app.domain.report import Report
from app.domain.table_rows import find_row
from app.domain.tool_key import normalise_text
from retrieval.language.sentences import split_sentences
from retrieval.language.tokens import list_stems
from workflows.checks.grading import ClaimGrade, grade_claim
from workflows.judging.claim_draft import evidence_of

MAX_NEAREST = 3
"""The number of new quotes that an old claim is compared with: those that share most words with it."""
LEAST_LIKENESS = 0.45
"""The least likeness at which a sentence counts as the successor of a changed passage."""
MOST_SENTENCES = 4_000

SourceWords = tuple[str, str]


def compare_reports(old: Report, new: Report, evidence: Sequence[Quote], texts: Mapping[str, str | None]) -> ReportChanges:
    """Return what has changed from `old` to `new`.

    `evidence` holds all quotes of the new run. `texts` are today's texts of the old report's sources by address, None for a
    source that is gone. Nothing is known, and so nothing is said, of a source that is not in `texts`.
    """
    before, after = list_cited(old), list_cited(new)
    pool = {words_of(quote): quote for quote in (*evidence, *after)}
    stands = {words_of(quote): _is_still_there(quote, pool, texts) for quote in before}
    moved = [
        _change_of(quote, texts) for quote in before if not stands[words_of(quote)] and texts.get(quote.source.url) is not None
    ]
    fresh = [quote for key, quote in pool.items() if key not in stands]
    fallen = _join_rows(_find_fallen(old, stands, fresh, texts))
    lost = {shown for claim in fallen for shown in claim.before}
    replaced = {change.after for change in moved if change.after and change.before in lost}
    return ReportChanges(
        new_sources=tuple(map(_show_quote, _first_of_each_source(after, {quote.source.url for quote in before}))),
        vanished_sources=tuple(
            map(_show_quote, _first_of_each_source(quote for quote in before if _is_gone(quote, pool, texts)))
        ),
        passages=tuple(change for change in moved if change.before not in lost),
        fallen=fallen,
        new_claims=tuple(_find_new_claims(old, new, stands, replaced)),
    )


def words_of(evidence: Quote | Passage) -> SourceWords:
    """Return the address and words of evidence, which are the same whenever it was fetched."""
    return evidence.source.url, normalise_text(evidence.text)


def list_cited(report: Report) -> list[Quote]:
    """Return the quotes that a report's bodies cite, in the order of their first citation."""
    known = {quote.key: quote for quote in report.quotes}
    keys = dict.fromkeys(key.strip() for section in report.sections for key in MARKER.findall(section.body))
    return [known[key] for key in keys if key in known]


def _is_still_there(quote: Quote, pool: Mapping[SourceWords, Quote], texts: Mapping[str, str | None]) -> bool:
    if words_of(quote) in pool or quote.source.url not in texts:
        return True
    today = texts.get(quote.source.url)
    return today is not None and normalise_text(quote.text) in normalise_text(today)


def _is_gone(quote: Quote, pool: Mapping[SourceWords, Quote], texts: Mapping[str, str | None]) -> bool:
    missing = quote.source.url in texts and texts[quote.source.url] is None
    return missing and all(url != quote.source.url for url, _ in pool)


def _change_of(quote: Quote, texts: Mapping[str, str | None]) -> PassageChange:
    successor = _find_successor(quote, texts.get(quote.source.url) or "")
    return PassageChange(before=_show_quote(quote), after=_show_quote(successor) if successor else None)


def _find_successor(quote: Quote, today: str) -> Quote | None:
    """Return the sentence of today's text that is most like the quote, if one is like enough."""
    spans = split_sentences(today)[:MOST_SENTENCES]
    matcher = SequenceMatcher(None, "", quote.text, autojunk=False)
    best, likeness = None, LEAST_LIKENESS
    for span in spans:
        matcher.set_seq1(today[span.start : span.end])
        if matcher.real_quick_ratio() > likeness and matcher.quick_ratio() > likeness and (ratio := matcher.ratio()) > likeness:
            best, likeness = span, ratio
    if best is None:
        return None
    source = quote.source.model_copy(update={"snapshot": snapshot_hash(today)})
    return Quote(source=source, text=today[best.start : best.end], start=best.start, end=best.end)


def _find_fallen(
    old: Report, stands: Mapping[SourceWords, bool], fresh: Sequence[Quote], texts: Mapping[str, str | None]
) -> Iterable[FallenClaim]:
    known = {quote.key: quote for quote in old.quotes}
    for claim in old.claims:
        own = [known[key] for key in claim.quote_keys if key in known]
        if own and claim.support in (Support.FULL, *_IN_PART):
            found = _judge_claim(claim, own, stands, fresh, texts)
            if found is not None:
                yield found.model_copy(update={"claim": _state_claim(old, claim)})


def _state_claim(report: Report, claim: Claim) -> str:
    """Return a claim's sentence; of a cell in a table, its row."""
    return find_row(report.sections[claim.section].body, claim.start) or claim.text


def _join_rows(found: Iterable[FallenClaim]) -> tuple[FallenClaim, ...]:
    """Make one claim of the cells of a row, with the words of all of them."""
    joined: dict[str, FallenClaim] = {}
    for cell in found:
        row = joined.setdefault(cell.claim, cell)
        words = {"before": (*row.before, *cell.before), "after": (*row.after, *cell.after)}
        joined[cell.claim] = row.model_copy(update={name: tuple(dict.fromkeys(shown)) for name, shown in words.items()})
    return tuple(joined.values())


def _judge_claim(
    claim: Claim,
    own: Sequence[Quote],
    stands: Mapping[SourceWords, bool],
    fresh: Sequence[Quote],
    texts: Mapping[str, str | None],
) -> FallenClaim | None:
    """Return why this claim no longer holds, or None. While its evidence stands, only a new quote that opposes it counts."""
    lost = [quote for quote in own if not stands.get(words_of(quote), True)]
    successors = [found for quote in lost if (found := _find_successor(quote, texts.get(quote.source.url) or ""))]
    candidates = [*successors, *_find_nearest(claim, fresh)]
    grades = [(quote, _grade_claim(claim, [quote])) for quote in candidates]
    before = tuple(map(_show_quote, own))
    opposing = tuple(_show_quote(quote) for quote, grade in grades if grade.support is Support.CONTRADICTED)
    if opposing:
        return FallenClaim(claim=claim.text, why=FallReason.OPPOSED, support=Support.CONTRADICTED, before=before, after=opposing)
    if len(lost) < len(own):
        return None
    best = min((grade.support for _, grade in grades), key=_RANKS.__getitem__, default=Support.NONE)
    if _RANKS[best] <= _RANKS[claim.support]:
        return None
    why = FallReason.CHANGED if successors else FallReason.GONE
    return FallenClaim(claim=claim.text, why=why, support=best, before=before, after=tuple(map(_show_quote, successors)))


_IN_PART = (Support.PARTIAL, Support.UNJUDGED)
_RANKS = {Support.FULL: 0, **dict.fromkeys(_IN_PART, 1), Support.NONE: 2, Support.CONTRADICTED: 3, Support.UNCITED: 4}
"""How well each verdict speaks of a claim; one that is not judged stands as one that holds in part."""


def _find_nearest(claim: Claim, quotes: Sequence[Quote]) -> list[Quote]:
    own = _terms_of(claim.text)
    shared = {quote.key: len(own & _terms_of(quote.text)) for quote in quotes}
    near = sorted((quote for quote in quotes if shared[quote.key]), key=lambda quote: -shared[quote.key])
    return near[:MAX_NEAREST]


def _terms_of(text: str) -> frozenset[str]:
    return frozenset(list_stems(normalise_text(text)))


def _grade_claim(claim: Claim, quotes: Sequence[Quote]) -> ClaimGrade:
    return grade_claim(claim.text, evidence_of(quotes, {}))


def _find_new_claims(
    old: Report, new: Report, stands: Mapping[SourceWords, bool], replaced: Collection[ShownWords]
) -> Iterable[NewClaim]:
    """Yield claims that hold, that the old report did not make, and that rest on a quote it did not have.

    Those in `replaced` are told where an old claim no longer holds.
    """
    said = {normalise_text(_state_claim(old, claim)) for claim in old.claims}
    known = {quote.key: quote for quote in new.quotes}
    for claim in new.claims:
        quotes = [known[key] for key in claim.quote_keys if key in known]
        rests_on_new = any(words_of(quote) not in stands and _show_quote(quote) not in replaced for quote in quotes)
        stated = _state_claim(new, claim)
        if rests_on_new and claim.support.holds and normalise_text(stated) not in said:
            said.add(normalise_text(stated))
            yield NewClaim(claim=stated, quotes=tuple(map(_show_quote, quotes)))


def _first_of_each_source(quotes: Iterable[Quote], known: Iterable[str] = ()) -> list[Quote]:
    """Return the first quote of each source whose address is not known."""
    seen = set(known)
    return [quote for quote in quotes if not (quote.source.url in seen or seen.add(quote.source.url))]  # type: ignore[func-returns-value]


def _show_quote(quote: Quote) -> ShownWords:
    return ShownWords(title=quote.source.title, url=quote.source.url, text=quote.text)
