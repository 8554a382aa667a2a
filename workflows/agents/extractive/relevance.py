"""How well a sentence serves a question: the terms it shares, the company they keep, the kind of statement it makes."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from workflows.agents.extractive.cues import answer_cue, cue
from workflows.agents.extractive.kinds import ARGUED
from workflows.agents.extractive.names import as_itself, holds_name, names_topic
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.senses import as_verbs
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.standing import aims, leans, points_back, shape
from workflows.agents.extractive.words import is_light, terms

ASPECT_SHARE, COMPANY_SHARE, NEAR_SHARE = 0.6, 0.6, 0.4
IN_SCOPE = 0.5
BY_WORD, SCATTERED, BY_TITLE = 0.8, 0.5, 0.5
ASKED_SHARE = 0.5
AIMING = 0.15
LATE = 0.3
COMPANY_TERMS = 40
POINTING_BACK, OTHER_NUMBER, OTHER_FORM = 0.8, 0.85, 0.7


@dataclass(frozen=True, slots=True)
class Lens:
    """What to look at sentences through: the question's terms, a subtask's own terms, the terms that keep them company.

    `weights` are the subject's among the sentences at hand; the question's own, where there are none.
    """

    question: Question
    aspect: Mapping[str, float] = field(default_factory=dict)
    company: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)

    def share(self, sentence: Sentence, named: bool) -> float:
        """How much of the subject a sentence holds, from 0 to 1; `named` when its passage names the subject in full.

        The words of a name count half when they are scattered over a sentence, and its telling word stands for it in a
        passage that names it: "the canal" is the Panama Canal there, and on a page of that name nothing has to. What a title that
        names a topic holds counts half for each statement below it: "Pricing" need not be said again on a page on it.
        """
        weights = self._weights
        plain = weights.keys() - self._in_names
        held = sum(weights[term] for term in self._meant(sentence) & plain)
        if names_topic(sentence.source):
            titled = set(_title_terms(sentence.source.title)) & plain - sentence.term_set
            held += BY_TITLE * sum(weights[term] for term in titled)
        held += sum(self._named(phrase, sentence, named) for phrase in self.question.phrases)
        return min(1.0, held / (sum(weights.values()) or 1.0))

    @property
    def _weights(self) -> Mapping[str, float]:
        return self.weights or self.question.telling_weights

    @property
    def _in_names(self) -> frozenset[str]:
        return frozenset(term for phrase in self.question.phrases for term in phrase)

    def _meant(self, sentence: Sentence) -> frozenset[str]:
        """A sentence's terms without nouns of the question that it has as something else."""
        nouns = self.question.nouns
        if not nouns or self.question.subject_terms.isdisjoint(sentence.term_set):
            return sentence.term_set
        return sentence.term_set - as_verbs(sentence.text, nouns)

    def _named(self, phrase: frozenset[str], sentence: Sentence, named: bool) -> float:
        """What a sentence holds of the weight of a name."""
        weights = self._weights
        whole = sum(weights[term] for term in phrase)
        if holds_name(sentence.terms, phrase):
            return whole
        if named and not sentence.term_set.isdisjoint(phrase & self.question.telling):
            return BY_WORD * whole
        if holds_name(_title_terms(sentence.source.title), phrase):
            return BY_WORD * whole
        return SCATTERED * sum(weights[term] for term in phrase & sentence.term_set)

    def in_scope(self, sentence: Sentence, named: bool = False) -> bool:
        """Whether a sentence speaks of the subject, by itself or going on from the sentence before it."""
        if self.share(sentence, named) >= IN_SCOPE:
            return True
        return sentence.before is not None and leans(sentence) and self.share(sentence.before, named) >= IN_SCOPE

    def score(self, sentence: Sentence, named: bool = False) -> float:
        """The relevance of a sentence, about 0 to 2.5, by content and form; 0 means never quote it."""
        fit = shape(sentence)
        if not fit:
            return 0.0
        subject = self.share(sentence, named)
        if sentence.before is not None:
            subject = max(subject, NEAR_SHARE * self.share(sentence.before, named))
        value = subject + ASPECT_SHARE * self._aspect(sentence) + COMPANY_SHARE * self._company(sentence)
        value += cue(self.question.kind, sentence.text, self.question.subject_terms) + answer_cue(
            self.question.text, sentence.text
        )
        value += ASKED_SHARE * (not self.question.asked.isdisjoint(sentence.term_set))
        back = POINTING_BACK if points_back(sentence) else 1.0
        aim = AIMING if aims(sentence) else 1.0
        return value * fit * self._early(sentence) * self._as_written(sentence) * back * aim

    def _as_written(self, sentence: Sentence) -> float:
        """Less for a sentence that has the subject's words in other forms only, or none of them as itself: "I trust that" is not
        about trusts, nor the Secretary of War about war; and why a war was fought is not said of war debts."""
        question, text = self.question, sentence.text.lower()
        if names_topic(sentence.source):
            text += f" {sentence.source.title.lower()}"
        if not any(word in text for word in question.written):
            return OTHER_NUMBER if any(word.removesuffix("s") in text for word in question.written) else OTHER_FORM
        if question.names or as_itself(sentence.text, question.subject_terms, question.kind in ARGUED):
            return 1.0
        return OTHER_FORM

    def _early(self, sentence: Sentence) -> float:
        """Less for a sentence that comes to the subject late, in passing."""
        places = (place for place, term in enumerate(sentence.terms) if term in self.question.subject_terms)
        return 1.0 - LATE * next(places, 0) / (len(sentence.terms) or 1)

    def _aspect(self, sentence: Sentence) -> float:
        total = sum(self.aspect.values())
        return sum(weight for term, weight in self.aspect.items() if term in sentence.term_set) / total if total else 0.0

    def _company(self, sentence: Sentence) -> float:
        """How much of the company is in a sentence, per term of it, so that length alone earns nothing."""
        found = sum(self.company.get(term, 0.0) for term in sentence.term_set)
        return min(1.0, found / math.sqrt(len(sentence.term_set) + 4))


@lru_cache(maxsize=4_096)
def _title_terms(title: str) -> tuple[str, ...]:
    return tuple(terms(title))


def company_of(subject: frozenset[str], told_apart: Iterable[tuple[bool, Sentence]]) -> dict[str, float]:
    """The terms that sentences on the subject use and others around them do not (pseudo-relevance feedback); weights up to 1.

    `told_apart` gives each sentence with whether it speaks of the subject. A term counts once a source, so that one long speech
    does not set the tone.
    """
    inside: dict[str, set[str]] = {}
    outside: Counter[str] = Counter()
    counts = [0, 0]
    for speaks, sentence in told_apart:
        counts[speaks] += 1
        for term in sentence.term_set - subject:
            if speaks:
                inside.setdefault(term, set()).add(sentence.source.url)
            else:
                outside[term] += 1
    raw = {
        term: _distinction(len(sources), outside[term], counts) * (0.3 if is_light(term) else 1.0)
        for term, sources in inside.items()
        if len(sources) > 1
    }
    best = sorted(((weight, term) for term, weight in raw.items() if weight > 0), reverse=True)[:COMPANY_TERMS]
    return {term: weight / best[0][0] for weight, term in best}


def _distinction(inside: int, outside: int, counts: list[int]) -> float:
    ratio = ((inside + 0.5) / (counts[True] + 1)) / ((outside + 0.5) / (counts[False] + 1))
    return max(0.0, math.log(ratio) + 0.5) * math.log(1 + inside)
