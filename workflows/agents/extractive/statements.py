"""From passages on a subject to the statements worth quoting: relevant, new, able to stand alone."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from workflows.agents.extractive.cues import can_answer, makes_case
from workflows.agents.extractive.focus import focus, names_subject, told_apart
from workflows.agents.extractive.hearing import each_heard
from workflows.agents.extractive.hits import Hit
from workflows.agents.extractive.kinds import QuestionKind
from workflows.agents.extractive.novelty import select
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.relevance import Lens, company_of
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.standing import leans
from workflows.agents.extractive.telling import contrasting
from workflows.agents.extractive.trimming import trim
from workflows.agents.extractive.words import term_of, terms, word_count

IN_PASSING = 0.5
CONSIDERED = 200
LEAST_CASES = 5
"""So many statements that give reasons make an answer by themselves; with fewer, what else is said stands beside them."""
FEW_CASES = 2
"""So many will do where objections are asked for."""
OF_ASPECT = 3
"""So many statements that hold the words of a heading make a section, which then shows what its heading says."""
BESIDE = 0.6
"""What a statement that gives no reason counts in a part of a question for reasons."""
LONGEST_PAIR = 70
TRIM_FROM = 55
FLOOR = 0.5
"""What scores less than this share of the best statement is beside the point."""
HEARD = 0.4
"""The same for the best of a collection that has none above it: one defines what the other goes into."""


_TAKES_UP = re.compile(r"(?:such|these|those|this|that)\s+([\w'’-]+)", re.IGNORECASE)


def lens_on(question: Question, hits: Sequence[Hit], aspect: dict[str, float]) -> Lens:
    """A lens for these passages that looks at nothing but the question: for one that asks for one thing."""
    sentences = (sentence.term_set for hit in hits for sentence in hit.sentences)
    return Lens(question, aspect, weights=contrasting(question.telling_weights, sentences))


def lens_for(question: Question, hits: Sequence[Hit], aspect: dict[str, float]) -> Lens:
    """A lens that knows the company the subject keeps in these passages."""
    bare = lens_on(question, hits, aspect)
    return replace(bare, company=company_of(question.subject_terms, told_apart(bare, hits)))


def statements(lens: Lens, hits: Sequence[Hit], limit: int, taken: Sequence[Sentence] = ()) -> list[Sentence]:
    """Up to `limit` statements on the lens's subject, the best first; one that leans on the sentence before comes with it."""
    scored = sorted((pair for hit in hits for pair in _scored(lens, hit)), key=_order)
    if lens.aspect:
        fitting = [pair for pair in scored if lens.aspect.keys() & pair[1].term_set]
        scored = fitting if len(fitting) >= OF_ASPECT else scored
    if lens.aspect:
        scored = sorted(((s * (1.0 if makes_case(lens.question.kind, c.text) else BESIDE), c) for s, c in scored), key=_order)
    else:
        arguing = [pair for pair in scored if makes_case(lens.question.kind, pair[1].text)]
        few = FEW_CASES if lens.question.kind is QuestionKind.AGAINST else LEAST_CASES
        scored = arguing if len(arguing) >= few else scored
        scored = [pair for pair in scored if can_answer(lens.question.text, pair[1].text)] or scored
    near = [pair for pair in scored if pair[0] >= HEARD * scored[0][0]]
    scored = [pair for pair in scored if pair[0] >= FLOOR * scored[0][0]]
    share = 1 if lens.question.asks_who else max(2, limit // max(1, len({c.source.url for _, c in scored})))
    chosen = each_heard(near, select(scored[:CONSIDERED], limit, taken, _at_most(share)), limit)
    needed = frozenset(lens.question.subject_terms) | lens.aspect.keys()
    return [trim(sentence, needed, TRIM_FROM) for sentence in chosen]


def _scored(lens: Lens, hit: Hit) -> list[tuple[float, Sentence]]:
    named = names_subject(lens.question, hit)
    dwelling = 1 - IN_PASSING + IN_PASSING * focus(lens, hit)
    inside = (sentence for sentence in hit.sentences if lens.in_scope(sentence, named))
    subject = lens.question.subject_terms
    return [(lens.score(c, named) * dwelling, c) for sentence in inside for c in _standing(hit, sentence, subject)]


def _order(scored: tuple[float, Sentence]) -> tuple[float, str, int]:
    return -scored[0], *scored[1].place


def _standing(hit: Hit, sentence: Sentence, subject: frozenset[str]) -> list[Sentence]:
    """The sentence if it can stand alone; else the two together, if the one before can and both are short.

    None where it takes up by a word of the subject what the one before calls otherwise: "such trusts" are then other trusts.
    """
    if not leans(sentence):
        return [sentence]
    before = sentence.before
    taken_up = _TAKES_UP.match(sentence.text)
    if taken_up and before and term_of(taken_up[1]) in subject and subject.isdisjoint(before.term_set):
        return []
    if before is None or leans(before) or word_count(before.text) + word_count(sentence.text) > LONGEST_PAIR:
        return []
    return [_pair(hit, before, sentence)]


def _pair(hit: Hit, before: Sentence, sentence: Sentence) -> Sentence:
    offset = hit.passage.start
    text = hit.passage.text[before.start - offset : sentence.end - offset]
    own = tuple(terms(text))
    return Sentence(sentence.source, text, before.start, sentence.end, own, frozenset(own))


def _at_most(share: int) -> Callable[[Sentence, list[Sentence]], bool]:
    """Allows so many sentences a source; only one, and it is one for each author."""

    def speaker(sentence: Sentence) -> str:
        return (share == 1 and sentence.source.author) or sentence.source.url

    return lambda sentence, chosen: Counter(map(speaker, chosen))[speaker(sentence)] < share
