"""The offline grader: does this evidence support this claim?

Whether it may be called fully supported, or be warned of, trees say that read what the vetoes found (`full_support.py`). Two
small logistic models over named features rank claims besides: one separates evidence that states the claim from evidence that
does not, the other agreement from opposition. Each has four forms: with and without an encoder's vectors, and with and without
what a learned judge read in the pair. `python -m bench.fit_citation_grader` made the weights in grader.json from human labels.
No claim is fully supported that the learned judge doubts.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any, NamedTuple, TypeAlias

from app.domain.claims import Support
from app.domain.query import Language, detect_language
from workflows.checks.full_support import SupportTrees, load_support_trees, measure_support
from workflows.checks.nearness import TextVectors, cosine_of, measure_nearness
from workflows.checks.opposition import measure_opposition
from workflows.checks.overlap import ClaimCoverage, measure_coverage, measure_overlap
from workflows.checks.rarity import WordRarity
from workflows.checks.reading import ReadSentence, read_sentence
from workflows.checks.vetoes.reasons import OPPOSED, Veto
from workflows.checks.vetoes.veto import find_vetoes

EXCERPT, PASSAGE, PAGE = "excerpt", "passage", "page"
LONGEST_EXCERPT = 4
LONGEST_PASSAGE = 20
"""In sentences. A missing word means different things in a quote, a passage and a page, so the weights differ too."""
MOST_ENCODED = 12
LIKELY_OPPOSED = 0.4
MOSTLY_SAID, MOSTLY_UNSAID = 0.35, 0.5
"""The shares of a claim's words that the evidence lacks, at most in a contradicted claim and at least in an unsupported one."""
NEUTRAL_COSINE = 0.5
"""The value that replaces a cosine when there is no encoder, so that closeness keeps its scale."""

Signals: TypeAlias = Mapping[str, float]


class Evidence(NamedTuple):
    """The evidence for a claim: its source's title and at least one sentence."""

    title: str
    sentences: Sequence[str]


class PairReading(NamedTuple):
    """What a learned judge reads in a claim and its evidence.

    `stated` and `opposed` are log-odds: that the evidence states the claim, and that it states the opposite. `doubted` is a claim
    that is probably false although no rule may see it.
    """

    stated: float
    opposed: float
    doubted: bool = False


class ClaimGrade(NamedTuple):
    """`supported`: the probability that the evidence states the claim; `opposed`: that it states the opposite, if on topic.

    `full` is the probability that it may be called fully supported; `veto` says what speaks against that first.
    """

    support: Support
    supported: float
    opposed: float
    full: float = 0.0
    veto: Veto | None = None


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
    """One form of the grader; a claim below the limit `none` may be one that the evidence does not support at all."""

    support: LogisticModel
    opposition: LogisticModel
    none: float


@dataclass(frozen=True)
class Grader:
    """The offline grader. `forms` are by name, see `name_form`: `words` needs only the texts, and the more is read the better."""

    rarity: WordRarity
    forms: Mapping[str, GraderForm]
    trees: SupportTrees

    def grade(
        self, claim: str, evidence: Evidence, vectors: TextVectors | None = None, reading: PairReading | None = None
    ) -> ClaimGrade:
        """Grade a claim. `vectors` must hold the claim; see `list_texts_to_encode`. `reading` is a learned judge's."""
        form = self.forms.get(name_form(vectors, reading)) or self.forms[name_form(vectors, None)]
        signals = measure_signals(claim, evidence, self.rarity, vectors, reading)
        supported, opposed = form.support.probability_of(signals), form.opposition.probability_of(signals)
        findings = find_vetoes(claim, evidence.title, tuple(self._list_closest(claim, evidence.sentences)))
        words = measure_signals(claim, evidence, self.rarity, None) if vectors else signals
        full = self.trees.probability_of(measure_support(words, findings, detect_language(claim) is Language.CHINESE))
        grade = ClaimGrade(Support.PARTIAL, supported, opposed, full, next(iter(findings.vetoes), None))
        return grade._replace(support=_decide(grade, reading, form.none, self.trees))

    def _list_closest(self, claim: str, sentences: Sequence[str]) -> Sequence[str]:
        """Return the sentences that share most words with the claim, in their order."""
        if len(sentences) <= LONGEST_PASSAGE:
            return sentences
        covered = measure_coverage(read_sentence(claim), [read_sentence(text) for text in sentences], self.rarity)
        return [sentences[i] for i in sorted(covered.order[:LONGEST_PASSAGE])]

    def list_texts_to_encode(self, claim: str, evidence: Evidence) -> list[str]:
        """Return the texts whose vectors a grade needs: the claim, the title, and the sentences that share most words with it."""
        covered = measure_coverage(read_sentence(claim), [read_sentence(text) for text in evidence.sentences], self.rarity)
        wanted = [evidence.sentences[i] for i in covered.order[:MOST_ENCODED]]
        return [text for text in dict.fromkeys([claim, evidence.title, *wanted]) if text]


def _decide(grade: ClaimGrade, reading: PairReading | None, none: float, trees: SupportTrees) -> Support:
    """Return the verdict. A learned judge's doubt forbids full support.

    Of what is far from full support, a claim is contradicted if a single word turns what the evidence says, and unsupported if
    the evidence has few of its words.
    """
    veto = grade.veto
    if grade.full >= trees.full:
        return Support.PARTIAL if reading and reading.doubted else Support.FULL
    if veto is None or grade.full >= trees.warned:
        return Support.PARTIAL
    if veto.reason in OPPOSED and veto.unknown <= MOSTLY_SAID and grade.opposed >= LIKELY_OPPOSED:
        return Support.CONTRADICTED
    return Support.NONE if grade.supported < none and veto.unknown >= MOSTLY_UNSAID else Support.PARTIAL


def name_form(vectors: object, reading: PairReading | None) -> str:
    """Return the name of the grader's form: what it has besides the words."""
    return ("vectors" if vectors else "words") + ("_read" if reading else "")


def extent_of(signals: Signals) -> str:
    """Return whether the evidence is an excerpt, a passage or a page."""
    sentences = round(exp(signals["evidence_length"]))
    return EXCERPT if sentences <= LONGEST_EXCERPT else PASSAGE if sentences <= LONGEST_PASSAGE else PAGE


def measure_signals(
    claim: str, evidence: Evidence, rarity: WordRarity, vectors: TextVectors | None, reading: PairReading | None = None
) -> dict[str, float]:
    """Return all features of a claim and its evidence by name; an encoder's and a learned judge's only where they are given."""
    own, title, sentences = _read_all(claim, evidence)
    covered = measure_coverage(own, sentences, rarity)
    signals = measure_overlap(own, title, sentences, covered, rarity)._asdict()
    close = _closeness_of(own, title, sentences, covered, rarity, vectors)
    signals |= measure_opposition(own, title, sentences, close, rarity)._asdict()
    if vectors:
        near = measure_nearness(claim, evidence.title, evidence.sentences, covered.shares, vectors)
        signals |= {f"vector_{name}": value for name, value in near._asdict().items()}
    if reading:
        signals |= {"read_stated": reading.stated, "read_opposed": reading.opposed}
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


def grader_of(fitted: Mapping[str, Any], trees: SupportTrees | None = None) -> Grader:
    """Return a grader with these weights, in the format of grader.json, and with these trees, else those of this package."""
    forms = {name: _make_form(form) for name, form in fitted["forms"].items()}
    return Grader(WordRarity(fitted["documents"], fitted["counts"]), forms, trees or load_support_trees())


def _make_form(form: Mapping[str, Any]) -> GraderForm:
    support, opposed = form["support"], form["opposition"]
    return GraderForm(
        LogisticModel(support["weights"], support["added"]), LogisticModel(opposed["weights"], opposed["added"]), **form["limits"]
    )
