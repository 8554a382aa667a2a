"""Pairs from which a judge learns more than from claims that were changed: see `make_learning_pairs`."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from random import Random

from app.domain.query import Language
from training.synthesis.claim_support.falsehoods import FALSEHOODS
from training.synthesis.claim_support.generate import LONGEST, SHORTEST, generate_pairs
from training.synthesis.claim_support.names import pool_names
from training.synthesis.claim_support.pairs import ClaimPair, SourceText
from training.synthesis.claim_support.scene import NamePools, Scene

TURNED, ELSEWHERE, HEADLINE = "turned", "elsewhere", "headline"
OPPOSING = frozenset(
    {
        "negation_added",
        "negation_removed",
        "direction_turned",
        "before_after",
        "most_to_few",
        "comparison_reversed",
        "exchanged_names",
        "cause_reversed",
    }
)
"""Kinds of falsehoods for which the evidence states the opposite. In the others it leaves the claim open."""
EITHER_WAY = OPPOSING | {
    "swapped_person",
    "swapped_place",
    "swapped_organisation",
    "swapped_number",
    "changed_year",
    "changed_month",
    "changed_ordinal",
    "subject_swapped",
}
"""Kinds that are as false when the evidence has the changed words and the claim the first ones."""
WEAKER = frozenset({"some_to_all", "only", "false_detail"})
"""Kinds that are honest the other way round: what says more supports what says less."""
TURNED_SHARE = 0.5
LEAST_HEADLINE = 5
MOST_READ = 25
HEADLINE_EVIDENCE = 3
FALSE_HEADLINES = 2


def make_learning_pairs(texts: Sequence[SourceText], each: int, seed: int) -> list[ClaimPair]:
    """Make the generated pairs and, of the same texts, two more sorts.

    *Turned*: the evidence gets the changed sentence, and the claim keeps the first one. So a claim's own words do not give away
    whether it is false. *Elsewhere*: a sentence of the same document that the evidence does not have.
    """
    pairs = generate_pairs(texts, each, seed)
    draw = Random(seed)
    turned = [
        turn_pair(pair) for pair in pairs if pair.kind in EITHER_WAY | WEAKER and not pair.right and draw.random() < TURNED_SHARE
    ]
    return [*pairs, *turned, *_take_elsewhere(texts, seed)]


def turn_pair(pair: ClaimPair) -> ClaimPair:
    """Return the pair with the claim in its evidence, and as the claim the sentence that it was made of."""
    near = [SequenceMatcher(None, sentence, pair.claim, autojunk=False).ratio() for sentence in pair.evidence]
    at = near.index(max(near))
    evidence = (*pair.evidence[:at], pair.claim, *pair.evidence[at + 1 :])
    return ClaimPair(pair.title, evidence, pair.evidence[at], f"{pair.kind}/{TURNED}", pair.kind in WEAKER)


def _take_elsewhere(texts: Sequence[SourceText], seed: int) -> Iterator[ClaimPair]:
    by_document: dict[str, list[SourceText]] = {}
    for text in texts:
        by_document.setdefault(text.document, []).append(text)
    for document, pieces in by_document.items():
        if len(pieces) < 2:
            continue
        draw = _draw_of(f"{seed} {document}")
        one, other = draw.sample(pieces, 2)
        claim = draw.choice(other.sentences)
        if SHORTEST[one.language] <= len(claim) <= LONGEST[one.language] and claim not in one.sentences:
            yield ClaimPair(one.title, one.sentences, claim, ELSEWHERE, False)


def make_headline_pairs(documents: Iterable[SourceText], seed: int) -> Iterator[ClaimPair]:
    """Yield claims that people wrote in words of their own: the headlines of documents, and falsehoods made of them.

    A document's first sentences are the evidence. English only; headlines of fewer than five words name a subject.
    """
    known = list(documents)
    names = pool_names(known)
    for document in known:
        claim = document.title.strip().rstrip(".") + "."
        if document.language is Language.ENGLISH and len(claim.split()) >= LEAST_HEADLINE and len(document.sentences) > 1:
            yield from _use_headline(document, claim, names, _draw_of(f"{seed} {document.document}"))


def _use_headline(document: SourceText, claim: str, names: NamePools, draw: Random) -> Iterator[ClaimPair]:
    evidence = _list_closest(claim, document.sentences[:MOST_READ])
    yield ClaimPair("", evidence, claim, HEADLINE, True)
    scene = Scene(SourceText("", (claim, *evidence), document.document, document.language), 0, names, draw)
    false = _list_false(scene)
    for kind, told in list(false.items())[:FALSE_HEADLINES]:
        yield ClaimPair("", evidence, told, f"{HEADLINE}/{kind}", False)


def _list_false(scene: Scene) -> Mapping[str, str]:
    """Return falsehoods by kind, those first that say the opposite."""
    kinds = [
        *scene.draw.sample(sorted(OPPOSING), len(OPPOSING)),
        *scene.draw.sample(sorted(EITHER_WAY - OPPOSING), len(EITHER_WAY - OPPOSING)),
    ]
    told = {kind: FALSEHOODS[kind](scene) for kind in kinds}
    return {kind: claim for kind, claim in told.items() if claim and claim != scene.sentence}


def _list_closest(claim: str, sentences: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences that share most words of four letters or more with the claim, in their order."""
    words = {word for word in claim.lower().split() if len(word) > 3}
    shared = [len(words & set(sentence.lower().split())) for sentence in sentences]
    best = sorted(range(len(sentences)), key=lambda i: -shared[i])[:HEADLINE_EVIDENCE]
    return tuple(sentences[i] for i in sorted(best))


def _draw_of(words: str) -> Random:
    return Random(hashlib.sha256(words.encode()).digest())
