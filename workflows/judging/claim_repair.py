"""Finding better evidence for a claim that its own quotes do not support: another quote of the same run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.citations import MARKER, marker_of
from app.domain.claims import Support
from app.domain.evidence import Passage, Quote
from app.domain.query import Language
from app.domain.report import Section
from workflows.checks.grading import grade_claim
from workflows.checks.overlap import rank_by_coverage
from workflows.checks.rarity import load_rarity
from workflows.checks.reading import read_sentence
from workflows.judging.claim_draft import ClaimDraft, evidence_of
from workflows.judging.context import QuoteContext
from workflows.judging.remarks import word_remark

CANDIDATES = 3
REPAIRED = "offline"


@dataclass(frozen=True, slots=True)
class TextReplacement:
    """New text for `[start, end)` of a section's body."""

    section: int
    start: int
    end: int
    text: str


def find_better_quote(draft: ClaimDraft, pool: Mapping[str, Quote], around: Mapping[str, QuoteContext]) -> Quote | None:
    """Return a quote of the run that supports the claim fully, of those with most of its words; else None. `pool` is by key."""
    own = {quote.key for quote in draft.quotes}
    others = [quote for key, quote in pool.items() if key not in own]
    if not others:
        return None
    order = rank_by_coverage(read_sentence(draft.sentence.text), [read_sentence(quote.text) for quote in others], load_rarity())
    for place in order[:CANDIDATES]:
        evidence = evidence_of([others[place]], around)
        if grade_claim(draft.sentence.text, evidence).support is Support.FULL:
            return others[place]
    return None


def use_quote(
    draft: ClaimDraft, quote: Quote, around: Mapping[str, QuoteContext], passage: Passage, language: Language
) -> ClaimDraft:
    """Return the claim with this quote of a passage instead of its own."""
    sentence = draft.sentence._replace(keys=(quote.key,))
    better = replace(draft, sentence=sentence, quotes=(quote,), evidence=evidence_of([quote], around), shown=(passage,))
    return better.with_verdict(Support.FULL, REPAIRED, word_remark("repaired", language))


def cite_quote(draft: ClaimDraft, quote: Quote, body: str) -> TextReplacement:
    """Replace the markers of the claim's sentence by the better quote's marker."""
    text = body[draft.sentence.start : draft.sentence.end]
    markers = list(MARKER.finditer(text))
    first = markers[0].start()
    kept = MARKER.sub("", text[first:])
    return TextReplacement(draft.section, draft.sentence.start, draft.sentence.end, f"{text[:first]}{marker_of(quote)}{kept}")


def apply_replacements(sections: Sequence[Section], replacements: Iterable[TextReplacement]) -> tuple[Section, ...]:
    """Apply replacements, which do not overlap, to the sections."""
    bodies = [section.body for section in sections]
    for change in sorted(replacements, key=lambda r: (r.section, -r.start)):
        body = bodies[change.section]
        bodies[change.section] = body[: change.start] + change.text + body[change.end :]
    return tuple(
        section.model_copy(update={"body": body}) if body != section.body else section
        for section, body in zip(sections, bodies, strict=True)
    )
