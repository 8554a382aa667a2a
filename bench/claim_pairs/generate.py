"""Making pairs of claims and evidence from texts: as many of each kind in each language. Half of the falsehoods are reworded."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from app.domain.query import Language
from bench.claim_pairs.falsehoods import FALSEHOODS, MakeClaim
from bench.claim_pairs.pairs import ClaimPair, SourceText, language_of
from bench.claim_pairs.paraphrases import PARAPHRASES, drop_detail, reorder, use_synonyms
from bench.claim_pairs.scene import Scene, pool_names
from retrieval.language.sentences import list_sentences

SHORTEST, LONGEST = {Language.ENGLISH: 40, Language.CHINESE: 15}, {Language.ENGLISH: 300, Language.CHINESE: 110}
EVIDENCE_SENTENCES = 3
REWORDED = 0.5
REWORDINGS: Sequence[MakeClaim] = (drop_detail, reorder, use_synonyms)


def read_source(title: str, text: str, document: str) -> Iterator[SourceText]:
    """Yield the pieces of a document: its sentences by threes."""
    sentences = list_sentences(text)
    language = language_of(text[:400])
    for start in range(0, len(sentences), EVIDENCE_SENTENCES):
        yield SourceText(title, tuple(sentences[start : start + EVIDENCE_SENTENCES]), document, language)


def generate_pairs(texts: Sequence[SourceText], each: int, seed: int = 0) -> list[ClaimPair]:
    """Make at most `each` pairs of every kind in every language. Texts should be in random order."""
    names = pool_names(texts)
    kinds = [(kind, make, False) for kind, make in FALSEHOODS.items()] + [
        (kind, make, True) for kind, make in PARAPHRASES.items()
    ]
    made = Counter[tuple[Language, str]]()
    pairs: list[ClaimPair] = []
    for text in texts:
        draw = Random(hashlib.sha256(f"{seed} {text.document} {text.sentences[0]}".encode()).digest())
        scene = Scene(text, draw.randrange(len(text.sentences)), names, draw)
        if not SHORTEST[text.language] <= len(scene.sentence) <= LONGEST[text.language]:
            continue
        wanted = [kind for kind in kinds if made[text.language, kind[0]] < each]
        for kind, make, right in sorted(wanted, key=lambda kind: made[text.language, kind[0]]):
            if claim := _make_claim(scene, make, right):
                made[text.language, kind] += 1
                pairs.append(ClaimPair(text.title, text.sentences, claim, kind, right))
                break
    return pairs


def _make_claim(scene: Scene, make: MakeClaim, right: bool) -> str | None:
    claim = make(scene)
    if claim is None or claim == scene.sentence or (_fold(claim) in _fold(" ".join(scene.text.sentences)) and right):
        return None
    return claim if right or scene.draw.random() > REWORDED else _reword(scene, claim)


def _fold(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())


def _reword(scene: Scene, claim: str) -> str:
    """Return the false claim in other words, where that leaves its falsehood in place."""
    sentences = (*scene.text.sentences[: scene.at], claim, *scene.text.sentences[scene.at + 1 :])
    again = Scene(SourceText(scene.text.title, sentences, scene.text.document, scene.language), scene.at, scene.names, scene.draw)
    whole = " ".join(scene.text.sentences).lower()
    for change in scene.draw.sample(list(REWORDINGS), len(REWORDINGS)):
        reworded = change(again)
        if reworded and not _lost_falsehood(claim, reworded, whole):
            return reworded
    return claim


def _lost_falsehood(claim: str, reworded: str, whole: str) -> bool:
    """Whether the words that made the claim false are gone: nothing of what it says is new any more, or a part was cut off."""
    return (len(reworded) < len(claim) - 2 and not _new_words(reworded, whole)) or bool(
        _new_words(claim, whole) - _new_words(reworded, whole)
    )


def _new_words(text: str, whole: str) -> set[str]:
    words: Iterable[str] = (
        (text[i : i + 2] for i in range(len(text) - 1)) if language_of(text) is Language.CHINESE else text.lower().split()
    )
    return {word.strip(".,;()") for word in words if word.strip(".,;()") not in whole}
