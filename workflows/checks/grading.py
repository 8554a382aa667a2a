"""The offline grader: does this evidence support this claim? Two small logistic models over named features.

One model separates evidence that states the claim from evidence that does not; the other separates agreement from opposition.
Each has two forms, with and without an encoder's vectors. `python -m bench.fit_citation_grader` made the weights in grader.json
from human labels.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any, NamedTuple, TypeAlias

from app.domain.claims import Support
from workflows.checks.nearness import TextVectors, cosine_of, measure_nearness
from workflows.checks.opposition import measure_opposition
from workflows.checks.overlap import ClaimCoverage, measure_coverage, measure_overlap
from workflows.checks.rarity import WordRarity
from workflows.checks.reading import ReadSentence, read_sentence

EXCERPT, PASSAGE, PAGE = "excerpt", "passage", "page"
LONGEST_EXCERPT = 4
LONGEST_PASSAGE = 20
"""In sentences. A missing word means different things in a quote, a passage and a page, so the weights differ too."""
MOST_ENCODED = 12
CLEARLY_OPPOSED = -0.25
"""A claim is contradicted only if its directions and those of the evidence disagree at least this much, from 0 to -1."""
NEUTRAL_COSINE = 0.5
"""The value that replaces a cosine when there is no encoder, so that closeness keeps its scale."""

Signals: TypeAlias = Mapping[str, float]


class Evidence(NamedTuple):
    """The evidence for a claim: its source's title and at least one sentence."""

    title: str
    sentences: Sequence[str]


class ClaimGrade(NamedTuple):
    """`supported`: the probability that the evidence states the claim; `opposed`: that it states the opposite, if on topic."""

    support: Support
    supported: float
    opposed: float


@dataclass(frozen=True)
class LogisticModel:
    """A logistic model; `added` holds additions to the weights by the extent of the evidence. The bias has the empty name."""

    weights: Signals
    added: Mapping[str, Signals]

    def probability_of(self, signals: Signals) -> float:
        """Return the probability, between 0 and 1."""
        added = self.added.get(extent_of(signals), {})
        score = self._weigh(self.weights, signals) + self._weigh(added, signals)
        return 1 / (1 + exp(-max(-30.0, min(30.0, score))))

    @staticmethod
    def _weigh(weights: Signals, signals: Signals) -> float:
        return sum([weight * signals[name] if name else weight for name, weight in weights.items()])


@dataclass(frozen=True)
class GraderForm:
    """One form of the grader with its limits: a claim is supported from `full` on and unsupported below `none`; from `opposed` on
    the evidence states the opposite."""

    support: LogisticModel
    opposition: LogisticModel
    full: float
    none: float
    opposed: float

    def grade(self, signals: Signals) -> ClaimGrade:
        """Grade a claim with these signals. A claim with a number that the evidence lacks is never fully supported."""
        supported, opposed = self.support.probability_of(signals), self.opposition.probability_of(signals)
        if supported >= self.none and opposed >= self.opposed and signals["direction"] < CLEARLY_OPPOSED:
            return ClaimGrade(Support.CONTRADICTED, supported, opposed)
        if supported < self.none:
            return ClaimGrade(Support.NONE, supported, opposed)
        whole = supported >= self.full and not signals["numbers_missing"]
        return ClaimGrade(Support.FULL if whole else Support.PARTIAL, supported, opposed)


@dataclass(frozen=True)
class Grader:
    """The offline grader. The form `words` needs only the texts; `vectors` needs an encoder and is better."""

    rarity: WordRarity
    words: GraderForm
    vectors: GraderForm

    def grade(self, claim: str, evidence: Evidence, vectors: TextVectors | None = None) -> ClaimGrade:
        """Grade a claim. `vectors` must hold the claim; see `list_texts_to_encode`."""
        form = self.vectors if vectors else self.words
        return form.grade(measure_signals(claim, evidence, self.rarity, vectors))

    def grade_support(self, claim: str, evidence: Evidence) -> float:
        """Return the `supported` value of `grade` without vectors, in half the time, because opposition is not computed."""
        own, title, sentences = _read_all(claim, evidence)
        covered = measure_coverage(own, sentences, self.rarity)
        return self.words.support.probability_of(measure_overlap(own, title, sentences, covered, self.rarity)._asdict())

    def list_texts_to_encode(self, claim: str, evidence: Evidence) -> list[str]:
        """Return the texts whose vectors a grade needs: the claim, the title, and the sentences that share most words with it."""
        covered = measure_coverage(read_sentence(claim), [read_sentence(text) for text in evidence.sentences], self.rarity)
        wanted = [evidence.sentences[i] for i in covered.order[:MOST_ENCODED]]
        return [text for text in dict.fromkeys([claim, evidence.title, *wanted]) if text]


def extent_of(signals: Signals) -> str:
    """Return whether the evidence is an excerpt, a passage or a page."""
    sentences = round(exp(signals["evidence_length"]))
    return EXCERPT if sentences <= LONGEST_EXCERPT else PASSAGE if sentences <= LONGEST_PASSAGE else PAGE


def measure_signals(claim: str, evidence: Evidence, rarity: WordRarity, vectors: TextVectors | None) -> dict[str, float]:
    """Return all features of a claim and its evidence by name; an encoder's features only with vectors."""
    own, title, sentences = _read_all(claim, evidence)
    covered = measure_coverage(own, sentences, rarity)
    signals = measure_overlap(own, title, sentences, covered, rarity)._asdict()
    close = _closeness_of(own, title, sentences, covered, rarity, vectors)
    signals |= measure_opposition(own, title, sentences, close, rarity)._asdict()
    if vectors:
        near = measure_nearness(claim, evidence.title, evidence.sentences, covered.shares, vectors)
        signals |= {f"vector_{name}": value for name, value in near._asdict().items()}
    return signals


def _read_all(claim: str, evidence: Evidence) -> tuple[ReadSentence, ReadSentence, list[ReadSentence]]:
    return read_sentence(claim), read_sentence(evidence.title), [read_sentence(text) for text in evidence.sentences]


def _closeness_of(
    claim: ReadSentence,
    title: ReadSentence,
    sentences: Sequence[ReadSentence],
    covered: ClaimCoverage,
    rarity: WordRarity,
    vectors: TextVectors | None,
) -> list[float]:
    """Return, for the title and each sentence, its share of the claim's words plus its cosine."""
    shares = [rarity.share_of(covered.weights, title.stem_set), *covered.shares]
    texts = [title.text, *(sentence.text for sentence in sentences)]
    if not vectors:
        return [share + NEUTRAL_COSINE for share in shares]
    own = vectors[claim.text]
    return [
        share + (cosine_of(own, vectors[text]) if text in vectors else 0.0) for share, text in zip(shares, texts, strict=True)
    ]


@cache
def load_grader() -> Grader:
    """Load the grader with the weights of this package."""
    return grader_of(json.loads(files("workflows.checks").joinpath("grader.json").read_text(encoding="utf-8")))


def grader_of(fitted: Mapping[str, Any]) -> Grader:
    """Return a grader with these weights, in the format of grader.json."""
    forms = {name: _make_form(form) for name, form in fitted["forms"].items()}
    return Grader(WordRarity(fitted["documents"], fitted["counts"]), words=forms["words"], vectors=forms["vectors"])


def _make_form(form: Mapping[str, Any]) -> GraderForm:
    support, opposed = form["support"], form["opposition"]
    return GraderForm(
        LogisticModel(support["weights"], support["added"]), LogisticModel(opposed["weights"], opposed["added"]), **form["limits"]
    )
