"""Citation support without a model: how far the sentences of a report are carried by what they cite.

Where the texts that a sentence cites together state all of it, it counts as much as the share of its citations that say something
of it; else nothing. The product's offline grader decides. At most three citations are looked at, as in the citation reward (ADR
0042), so that citations hung on every sentence gain nothing. A sentence without one leans on the next of its paragraph.
"""

from collections.abc import Mapping, Sequence
from statistics import fmean

from app.domain.claims import Support
from app.domain.evidence import Quote, Source, snapshot_hash
from app.domain.query import Language
from training.rewards.cited_claims import MOST_SOURCES
from training.rewards.quote_citations import mark_quotes
from workflows.agents.shown_passages import ShownPassage
from workflows.checks.claims import ClaimSentence, claims_of
from workflows.judging.claim_draft import ClaimDraft, evidence_of
from workflows.judging.offline_judge import judge_offline


def measure_support(draft: str, passages: Mapping[str, ShownPassage], language: Language) -> float:
    """Return the mean over the sentences of a draft, which cites passages by their ids; 0 for one that states nothing."""
    quotes = {name: _quote_whole(passage) for name, passage in passages.items() if passage.text}
    return fmean([_measure_sentence(each, quotes, language) for each in claims_of(mark_quotes(draft))] or [0.0])


def _measure_sentence(sentence: ClaimSentence, quotes: Mapping[str, Quote], language: Language) -> float:
    cited = sentence.keys or sentence.leans_on
    known = [quotes[name] for name in cited if name in quotes][:MOST_SOURCES]
    if not known or not _judge(sentence, known, language).holds:
        return 0.0
    useful = sum(_judge(sentence, [quote], language) is not Support.NONE for quote in known) if len(known) > 1 else 1
    return useful / len(cited)


def _judge(sentence: ClaimSentence, quotes: Sequence[Quote], language: Language) -> Support:
    own = sentence._replace(keys=tuple(quote.key for quote in quotes))
    return judge_offline(ClaimDraft(own, 0, tuple(quotes), evidence_of(quotes, {})), language).support


def _quote_whole(passage: ShownPassage) -> Quote:
    source = Source(url=passage.url, title=passage.title, snapshot=snapshot_hash(passage.text))
    return Quote(source=source, text=passage.text, start=0, end=len(passage.text))
