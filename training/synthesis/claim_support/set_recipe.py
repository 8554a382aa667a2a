"""The set from which a judge of claims learns: generated falsehoods and paraphrases, and pairs that people have labelled.

Without a model: every claim is made from a document's own sentences. Pairs in the files of `--input` come first.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import ceil

from app.domain.errors import InvalidInput
from app.domain.query import Language
from training.synthesis.catalogue import SetKind
from training.synthesis.claim_support.falsehoods import FALSEHOODS
from training.synthesis.claim_support.generate import generate_pairs, read_source
from training.synthesis.claim_support.pairs import ClaimPair, SourceText, read_pairs
from training.synthesis.claim_support.paraphrases import PARAPHRASES
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.outcome import KeptRow
from training.synthesis.training_set.recipe import SetRecipe
from training.synthesis.workshop import Workshop
from workflows.agents.ports import Record

DOCUMENTS = 4_000
PIECES = 6


@dataclass(frozen=True, slots=True)
class PairCandidate:
    """A pair of claim and evidence, and the documents that must stand on one side: all that have its evidence."""

    pair: ClaimPair
    documents: tuple[str, ...]

    @property
    def id(self) -> str:
        """A hash of what it says."""
        said = "\n".join((self.pair.claim, *self.pair.evidence))
        return hashlib.sha256(said.encode()).hexdigest()[:16]


def open_recipe(workshop: Workshop) -> SetRecipe[PairCandidate]:
    """Return the recipe.

    Raises:
        InvalidInput: there is neither a corpus nor a file of pairs.
    """
    request = workshop.request
    if not workshop.corpora and not request.inputs:
        raise InvalidInput("claim-support needs a --corpus, or an --input with pairs")
    return SetRecipe(list_candidates(workshop), make_row)


def list_candidates(workshop: Workshop) -> Iterator[PairCandidate]:
    """Yield each pair once."""
    seen = set[str]()
    for candidate in (*_read_labelled(workshop), *_generate(workshop)):
        if candidate.id not in seen:
            seen.add(candidate.id)
            yield candidate


def _read_labelled(workshop: Workshop) -> Iterator[PairCandidate]:
    for path in workshop.request.inputs:
        for pair in read_pairs(path):
            yield PairCandidate(pair, (f"{path.name}: {pair.title or _hash_of(' '.join(pair.evidence))}",))


def _generate(workshop: Workshop) -> Iterator[PairCandidate]:
    request = workshop.request
    texts = [text for corpus in workshop.corpora for text in read_texts(corpus, request.seed)]
    kinds = len(FALSEHOODS) + len(PARAPHRASES)
    languages = {text.language for text in texts}
    each = ceil(request.rows / (kinds * max(1, len(languages))))
    documents: dict[tuple[str, ...], tuple[str, ...]] = {}
    for text in texts:
        documents[text.sentences] = tuple(dict.fromkeys((*documents.get(text.sentences, ()), text.document)))
    for pair in generate_pairs(texts, each, request.seed):
        yield PairCandidate(pair, documents[pair.evidence])


def read_texts(corpus: SourceCorpus, seed: int) -> Iterator[SourceText]:
    """Yield pieces of documents, which are drawn by a hash of the seed and their address."""
    drawn = sorted(corpus.list_documents(), key=lambda document: _hash_of(f"{seed} {document.source.url}"))[:DOCUMENTS]
    for document in drawn:
        source = document.source
        yield from islice(read_source(source.title, corpus.read_text(source), source.url), PIECES)


async def make_row(candidate: PairCandidate, _: Record) -> KeptRow:
    """Return the pair as a row. Its topic is the way in which the claim was made."""
    pair = candidate.pair
    return KeptRow(
        query=pair.claim,
        topic=pair.kind or "labelled",
        language=Language(pair.language),
        documents=candidate.documents,
        data={"title": pair.title, "evidence": list(pair.evidence), "claim": pair.claim, "kind": pair.kind, "right": pair.right},
        counts={"words of the claim": len(pair.claim.split()), "right": float(pair.right)},
    )


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


CLAIM_SUPPORT = SetKind(
    name="claim-support",
    about="claims with evidence that states them or does not: generated from corpora, and labelled by people (no model needed)",
    open_recipe=open_recipe,
    options=frozenset(),
)
