"""A claim on its way through the judges."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from app.domain.claims import Claim, Support
from app.domain.evidence import Passage, Quote
from app.domain.report import Section
from workflows.checks.claims import ClaimSentence, claims_of
from workflows.checks.grading import Evidence
from workflows.judging.context import QuoteContext, list_sentences_around

NO_EVIDENCE = Evidence("", ())


@dataclass(frozen=True, slots=True)
class ClaimDraft:
    """A sentence of section `section` with the quotes that should support it and the current verdict.

    `cited` says whether the sentence itself cites them; else a later sentence of its paragraph cites them. `shown` are the
    passages that hold the quotes, as their agent read them. A `remark` states no fact of the matter, as a model found.
    """

    sentence: ClaimSentence
    section: int
    quotes: tuple[Quote, ...]
    evidence: Evidence
    support: Support = Support.UNCITED
    reason: str = ""
    judge: str = ""
    shown: tuple[Passage, ...] = ()
    remark: bool = False

    @property
    def cited(self) -> bool:
        """Whether the sentence has a citation of its own, to a quote that exists."""
        return bool(self.sentence.keys and self.quotes)

    @property
    def fails(self) -> bool:
        """Whether the reader would be warned of this claim."""
        return self.cited and self.support in (Support.NONE, Support.CONTRADICTED)

    def with_verdict(self, support: Support, judge: str, reason: str = "") -> "ClaimDraft":
        """Return this claim with a verdict. A sentence without a citation of its own is at worst uncited, never failing.

        The reason is kept of one that nothing gives.
        """
        if not self.cited and not support.holds:
            unfounded = support in (Support.NONE, Support.CONTRADICTED)
            return replace(self, support=Support.UNCITED, judge=judge, reason=reason if unfounded else "")
        return replace(self, support=support, judge=judge, reason=reason)

    def to_claim(self, weak: str, gap: str) -> Claim:
        """Return the claim as the report stores it. `gap` says why nothing cited gives its fact; empty if something does.

        A claim with a gap is supported in part at most, and this is known of it where nothing else is.
        """
        sentence = self.sentence
        unjudged = self.support is Support.UNJUDGED
        keys = tuple(quote.key for quote in self.quotes) if self.support is not Support.UNCITED else ()
        return Claim(
            text=sentence.text,
            section=self.section,
            start=sentence.start,
            end=sentence.end,
            quote_keys=keys,
            support=Support.PARTIAL if gap and (unjudged or self.support.holds) else self.support,
            reason=gap if gap and unjudged else self.reason or gap,
            judge=self.judge,
            weak=weak,
            unsourced=bool(gap),
        )


def make_drafts(
    section: Section,
    number: int,
    quotes: Mapping[str, Quote],
    around: Mapping[str, QuoteContext],
    passages: Mapping[str, Passage],
) -> list[ClaimDraft]:
    """Return every claim of a section with its quotes, in order. `number` is the section's place in the report.

    `around` and `passages` are by quote key.
    """
    return [_make_draft(sentence, number, quotes, around, passages) for sentence in claims_of(section.body)]


def _make_draft(
    sentence: ClaimSentence,
    section: int,
    quotes: Mapping[str, Quote],
    around: Mapping[str, QuoteContext],
    passages: Mapping[str, Passage],
) -> ClaimDraft:
    keys = sentence.keys or sentence.leans_on
    if not keys:
        return ClaimDraft(sentence, section, (), NO_EVIDENCE)
    cited = tuple([quotes[key] for key in keys if key in quotes])
    shown = tuple(dict.fromkeys(passages[quote.key] for quote in cited))
    return ClaimDraft(sentence, section, cited, evidence_of(cited, around), shown=shown)


def evidence_of(quotes: Sequence[Quote], around: Mapping[str, QuoteContext]) -> Evidence:
    """Return the quotes as a grader reads them: the titles of their sources, and their sentences in full."""
    titles = dict.fromkeys(quote.source.title for quote in quotes)
    return Evidence("; ".join(titles), [text for quote in quotes for text in list_sentences_around(quote, around.get(quote.key))])
