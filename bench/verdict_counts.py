"""Judges pairs of claims and evidence as a report's claims are judged, and counts the verdicts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from app.domain.citations import marker_of
from app.domain.claims import Support
from app.domain.evidence import Passage, Quote, Source, snapshot_hash
from app.domain.query import Language
from app.domain.report import Section
from bench.claim_pairs.pairs import ClaimPair
from workflows.judging.claim_draft import ClaimDraft, make_drafts
from workflows.judging.offline_judge import judge_offline

WARNED = (Support.NONE, Support.CONTRADICTED)
LEAST_OF_A_KIND = 5
"""A kind with fewer pairs is not asked for the worst one: a single pair would decide."""


class JudgedPair(NamedTuple):
    """A pair with the verdict that readers would see, and its reason."""

    pair: ClaimPair
    support: Support
    reason: str


def draft_pair(pair: ClaimPair, number: int = 0) -> tuple[Section, list[ClaimDraft]]:
    """Return the pair as section `number` of a report that cites the evidence, with a draft for each sentence of the claim."""
    text = ("" if pair.language is Language.CHINESE else " ").join(pair.evidence)
    source = Source(url="https://example.org/source", title=pair.title, snapshot=snapshot_hash(text))
    quote = Quote(source=source, text=text, start=0, end=len(text))
    section = Section(heading="Claim", body=f"{' '.join(pair.claim.split())} {marker_of(quote)}")
    passages = {quote.key: Passage(source=source, text=text, start=0, end=len(text))}
    return section, make_drafts(section, number, {quote.key: quote}, {}, passages)


async def judge_pairs(pairs: Sequence[ClaimPair]) -> list[JudgedPair]:
    """Judge each pair offline."""
    return [combine_verdicts(pair, [judge_offline(draft, pair.language) for draft in draft_pair(pair)[1]]) for pair in pairs]


def combine_verdicts(pair: ClaimPair, drafts: Sequence[ClaimDraft]) -> JudgedPair:
    """Return the worst verdict over the sentences of a claim."""
    worst = next((draft for draft in drafts if draft.fails), None) or next((d for d in drafts if not d.support.holds), None)
    if worst is None and drafts:
        worst = drafts[0]
    return JudgedPair(pair, worst.support if worst else Support.UNCITED, worst.reason if worst else "")


def measure_verdicts(judged: Sequence[JudgedPair]) -> dict[str, float]:
    """Return the figures: shares of falsehoods and of honest paraphrases, and how often each verdict is right."""
    honest = [each for each in judged if each.pair.right]
    false = [each for each in judged if not each.pair.right]
    shares = {kind: share for kind, (share, count) in share_full_by_kind(false).items() if count >= LEAST_OF_A_KIND}
    return {
        "falsehoods_called_full": _share(false, Support.FULL),
        "worst_kind": max(shares.values(), default=0.0),
        "honest_called_full": _share(honest, Support.FULL),
        "falsely_warned": _share(honest, *WARNED),
        "full_precision": _precision(judged, True, Support.FULL),
        "warned_precision": _precision(judged, False, *WARNED),
        "partial_precision": _precision(judged, False, Support.PARTIAL),
        "unjudged": _share(judged, Support.UNJUDGED),
    }


def share_full_by_kind(judged: Sequence[JudgedPair]) -> Mapping[str, tuple[float, int]]:
    """Return, by kind, the share called full and how many there are."""
    counts = Counter(each.pair.kind for each in judged)
    full = Counter(each.pair.kind for each in judged if each.support is Support.FULL)
    return {kind: (full[kind] / count, count) for kind, count in counts.items()}


def _share(judged: Sequence[JudgedPair], *verdicts: Support) -> float:
    return sum(each.support in verdicts for each in judged) / len(judged) if judged else 0.0


def _precision(judged: Sequence[JudgedPair], right: bool, *verdicts: Support) -> float:
    said = [each for each in judged if each.support in verdicts]
    return sum(each.pair.right is right for each in said) / len(said) if said else 1.0


def print_verdicts(what: str, judged: Sequence[JudgedPair]) -> None:
    """Print the figures, and the share called full of each kind in each language."""
    print(f"{what}: {len(judged)} pairs")
    for name, value in measure_verdicts(judged).items():
        print(f"  {name:24} {value:.3f}")
    for right in (False, True):
        print("  honest, called full:" if right else "  falsehoods, called full:")
        kinds = share_full_by_kind([each for each in judged if each.pair.right is right])
        for kind, (share, count) in sorted(kinds.items(), key=lambda item: -item[1][0]):
            by_language = [
                [e for e in judged if (e.pair.kind, e.pair.right, e.pair.language) == (kind, right, lang)] for lang in Language
            ]
            parts = " ".join(
                f"{lang.value} {_share(of, Support.FULL):.2f}" for lang, of in zip(Language, by_language, strict=True) if of
            )
            print(f"    {kind:24} {share:.2f} of {count:4} ({parts})", flush=True)
