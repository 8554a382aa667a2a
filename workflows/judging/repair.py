"""Finding better evidence for a claim that its own quotes do not support: another quote of the same run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from app.domain.citations import MARKER, marker
from app.domain.claims import Support
from app.domain.evidence import Quote
from app.domain.query import Language
from app.domain.report import Section
from workflows.checks.grading import shipped
from workflows.checks.overlap import coverage
from workflows.checks.reading import read
from workflows.judging.context import Context
from workflows.judging.draft import Draft, evidence_of
from workflows.judging.remarks import remark

CANDIDATES = 3
REPAIRED = "offline"


@dataclass(frozen=True, slots=True)
class Replacement:
    """New text for `[start, end)` of a section's body."""

    section: int
    start: int
    end: int
    text: str


def better_quote(draft: Draft, pool: Mapping[str, Quote], around: Mapping[str, Context]) -> Quote | None:
    """Return the quote of the run that best supports the claim, if it does so fully; else None. `pool` has quotes by key."""
    own = {quote.key for quote in draft.quotes}
    others = [quote for key, quote in pool.items() if key not in own]
    if not others:
        return None
    shares = coverage(read(draft.sentence.text), [read(quote.text) for quote in others], shipped().rarity)
    near = [(others[i], evidence_of([others[i]], around)) for i in shares.order[:CANDIDATES]]
    supported, quote, evidence = max(
        [(shipped().supported(draft.sentence.text, evidence), quote, evidence) for quote, evidence in near], key=itemgetter(0)
    )
    if supported < shipped().words.full:
        return None
    return quote if shipped().grade(draft.sentence.text, evidence).support is Support.FULL else None


def with_quote(draft: Draft, quote: Quote, around: Mapping[str, Context], language: Language) -> Draft:
    """Return the claim with this quote instead of its own."""
    better = replace(draft, quotes=(quote,), evidence=evidence_of([quote], around))
    return better.judged(Support.FULL, REPAIRED, remark("repaired", language))


def recited(draft: Draft, quote: Quote, body: str) -> Replacement:
    """Replace the markers of the claim's sentence by the better quote's marker."""
    text = body[draft.sentence.start : draft.sentence.end]
    markers = list(MARKER.finditer(text))
    first = markers[0].start()
    kept = MARKER.sub("", text[first:])
    return Replacement(draft.section, draft.sentence.start, draft.sentence.end, f"{text[:first]}{marker(quote)}{kept}")


def replaced(sections: Sequence[Section], replacements: Iterable[Replacement]) -> tuple[Section, ...]:
    """Apply replacements, which do not overlap, to the sections."""
    bodies = [section.body for section in sections]
    for change in sorted(replacements, key=lambda r: (r.section, -r.start)):
        body = bodies[change.section]
        bodies[change.section] = body[: change.start] + change.text + body[change.end :]
    return tuple(
        section.model_copy(update={"body": body}) if body != section.body else section
        for section, body in zip(sections, bodies, strict=True)
    )
