"""Comparing two reports on the same question: what is new, what is gone, and which old claims no longer hold.

No model is asked; words decide what is the same. The same statement in other words is nothing new, and a source that was fetched
again has not changed while the cited words stand in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher

from app.domain.changes import Changes, FallenClaim, NewClaim, PassageChange, Shown, Why
from app.domain.citations import MARKER
from app.domain.claims import Claim, Support
from app.domain.evidence import Quote, snapshot_hash
from app.domain.report import Report
from app.domain.tool_key import normalised
from retrieval.language.sentences import split_sentences
from workflows.checks.grading import Grade, shipped
from workflows.judging.draft import evidence_of

NEAREST = 3
"""The number of new quotes that an old claim is compared with: those that share most words with it."""
ALIKE = 0.45
"""The least likeness at which a sentence counts as the successor of a changed passage."""
MOST_SENTENCES = 4_000

Words = tuple[str, str]


def changes_between(old: Report, new: Report, evidence: Sequence[Quote], texts: Mapping[str, str | None]) -> Changes:
    """Return what has changed from `old` to `new`.

    `evidence` holds all quotes of the new run. `texts` are today's texts of the old report's sources by address, None for a
    source that is gone. Nothing is known, and so nothing is said, of a source that is not in `texts`.
    """
    before, after = cited(old), cited(new)
    pool = {words(quote): quote for quote in (*evidence, *after)}
    stands = {words(quote): _stands(quote, pool, texts) for quote in before}
    moved = [_change(quote, texts) for quote in before if not stands[words(quote)] and texts.get(quote.source.url) is not None]
    fresh = [quote for key, quote in pool.items() if key not in stands]
    return Changes(
        new_sources=tuple(map(_shown, _firsts(after, {quote.source.url for quote in before}))),
        vanished_sources=tuple(map(_shown, _firsts(quote for quote in before if _gone(quote, pool, texts)))),
        passages=tuple(moved),
        fallen=tuple(_fallen(old, stands, fresh, texts)),
        new_claims=tuple(_new_claims(old, new, stands)),
    )


def words(quote: Quote) -> Words:
    """Return a quote's address and words, which are the same whenever it was fetched."""
    return quote.source.url, normalised(quote.text)


def cited(report: Report) -> list[Quote]:
    """Return the quotes that a report's bodies cite, in the order of their first citation."""
    known = {quote.key: quote for quote in report.quotes}
    keys = dict.fromkeys(key.strip() for section in report.sections for key in MARKER.findall(section.body))
    return [known[key] for key in keys if key in known]


def _stands(quote: Quote, pool: Mapping[Words, Quote], texts: Mapping[str, str | None]) -> bool:
    if words(quote) in pool or quote.source.url not in texts:
        return True
    today = texts.get(quote.source.url)
    return today is not None and normalised(quote.text) in normalised(today)


def _gone(quote: Quote, pool: Mapping[Words, Quote], texts: Mapping[str, str | None]) -> bool:
    missing = quote.source.url in texts and texts[quote.source.url] is None
    return missing and all(url != quote.source.url for url, _ in pool)


def _change(quote: Quote, texts: Mapping[str, str | None]) -> PassageChange:
    successor = _successor(quote, texts.get(quote.source.url) or "")
    return PassageChange(before=_shown(quote), after=_shown(successor) if successor else None)


def _successor(quote: Quote, today: str) -> Quote | None:
    """Return the sentence of today's text that is most like the quote, if one is like enough."""
    spans = split_sentences(today)[:MOST_SENTENCES]
    matcher = SequenceMatcher(None, "", quote.text, autojunk=False)
    best, likeness = None, ALIKE
    for span in spans:
        matcher.set_seq1(today[span.start : span.end])
        if matcher.real_quick_ratio() > likeness and matcher.quick_ratio() > likeness and (ratio := matcher.ratio()) > likeness:
            best, likeness = span, ratio
    if best is None:
        return None
    source = quote.source.model_copy(update={"snapshot": snapshot_hash(today)})
    return Quote(source=source, text=today[best.start : best.end], start=best.start, end=best.end)


def _fallen(
    old: Report, stands: Mapping[Words, bool], fresh: Sequence[Quote], texts: Mapping[str, str | None]
) -> Iterable[FallenClaim]:
    known = {quote.key: quote for quote in old.quotes}
    for claim in old.claims:
        own = [known[key] for key in claim.quote_keys if key in known]
        if own and claim.support in (Support.FULL, Support.PARTIAL):
            found = _verdict(claim, own, stands, fresh, texts)
            if found is not None:
                yield found


def _verdict(
    claim: Claim, own: Sequence[Quote], stands: Mapping[Words, bool], fresh: Sequence[Quote], texts: Mapping[str, str | None]
) -> FallenClaim | None:
    """Return why this claim no longer holds, or None. While its evidence stands, only a new quote that opposes it counts."""
    lost = [quote for quote in own if not stands.get(words(quote), True)]
    successors = [found for quote in lost if (found := _successor(quote, texts.get(quote.source.url) or ""))]
    candidates = [*successors, *_nearest(claim, fresh)]
    grades = [(quote, _grade(claim, [quote])) for quote in candidates]
    before = tuple(map(_shown, own))
    opposing = tuple(_shown(quote) for quote, grade in grades if grade.support is Support.CONTRADICTED)
    if opposing:
        return FallenClaim(claim=claim.text, why=Why.OPPOSED, support=Support.CONTRADICTED, before=before, after=opposing)
    if len(lost) < len(own):
        return None
    best = min((grade.support for _, grade in grades), key=_ORDER.index, default=Support.NONE)
    if _ORDER.index(best) <= _ORDER.index(claim.support):
        return None
    why = Why.CHANGED if successors else Why.GONE
    return FallenClaim(claim=claim.text, why=why, support=best, before=before, after=tuple(map(_shown, successors)))


_ORDER = (Support.FULL, Support.PARTIAL, Support.NONE, Support.CONTRADICTED, Support.UNCITED)


def _nearest(claim: Claim, quotes: Sequence[Quote]) -> list[Quote]:
    own = set(normalised(claim.text).lower().split())
    shared = {quote.key: len(own & set(normalised(quote.text).lower().split())) for quote in quotes}
    near = sorted((quote for quote in quotes if shared[quote.key]), key=lambda quote: -shared[quote.key])
    return near[:NEAREST]


def _grade(claim: Claim, quotes: Sequence[Quote]) -> Grade:
    return shipped().grade(claim.text, evidence_of(quotes, {}))


def _new_claims(old: Report, new: Report, stands: Mapping[Words, bool]) -> Iterable[NewClaim]:
    """Yield claims that hold, that the old report did not make, and that rest on a quote it did not have."""
    said = {normalised(claim.text) for claim in old.claims}
    known = {quote.key: quote for quote in new.quotes}
    for claim in new.claims:
        quotes = [known[key] for key in claim.quote_keys if key in known]
        rests_on_new = any(words(quote) not in stands for quote in quotes)
        if rests_on_new and claim.support.holds and normalised(claim.text) not in said:
            yield NewClaim(claim=claim.text, quotes=tuple(map(_shown, quotes)))


def _firsts(quotes: Iterable[Quote], known: Iterable[str] = ()) -> list[Quote]:
    """Return the first quote of each source whose address is not known."""
    seen = set(known)
    return [quote for quote in quotes if not (quote.source.url in seen or seen.add(quote.source.url))]  # type: ignore[func-returns-value]


def _shown(quote: Quote) -> Shown:
    return Shown(title=quote.source.title, url=quote.source.url, text=quote.text)
