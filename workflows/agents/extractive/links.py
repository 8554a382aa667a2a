"""The sentences that carry a chain of evidence: from each of its passages the one that answers most or leads on."""

from collections.abc import Collection, Mapping, Sequence

from workflows.agents.extractive.coverage import bears_on
from workflows.agents.extractive.cues import answer_cue
from workflows.agents.extractive.hits import Hit
from workflows.agents.extractive.novelty import repeats
from workflows.agents.extractive.question import PLAIN_WEIGHT, Question
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.standing import leans, shape
from workflows.agents.extractive.trail import Trail
from workflows.agents.extractive.trimming import tighten
from workflows.agents.extractive.words import word_count

FIRST_BONUS, LINK_BONUS, FILL_BONUS = 0.15, 0.25, 0.4
LEANING = 0.6
LENGTH_COST = 0.004
LEAST = 0.01
TRIM_FROM = 14
READABLE = 22
TAIL = 0.25
TIED = 5


def chain_sentences(question: Question, trail: Trail, limit: int) -> list[tuple[float, Sentence]]:
    """Up to `limit` sentences with their passages' scores, one a passage, best first, each as short as what it adds allows."""
    chosen: list[tuple[float, Sentence]] = []
    telling = frozenset(term for term, weight in question.subject_weights.items() if weight >= PLAIN_WEIGHT)
    named = frozenset(term for phrase in question.phrases for term in phrase) or telling
    held: frozenset[str] = frozenset()
    best = trail.best(set(trail.scores), 3 * limit)
    names = trail.names_kept(best[:TIED])
    floor = TAIL * max(trail.scores.values(), default=0.0)
    for key in best:
        links = names.get(key, set())
        if trail.scores[key] < floor or len(chosen) == limit:
            continue
        wanted = trail.left_open(key)
        sentence = telling_sentence(question, trail.hits[key], links, wanted, [other for _, other in chosen])
        if sentence is not None and not _beside(question, trail, key, sentence):
            tied = frozenset(term for link in links for term in link.split())
            titled = frozenset(trail.hits[key].title.split())
            short = _short(sentence, (tied | (telling - held - titled), tied, named))
            held |= short.term_set | titled
            chosen.append((trail.scores[key], short))
    return chosen


def _beside(question: Question, trail: Trail, key: str, sentence: Sentence) -> bool:
    """Whether a sentence that no chain led to has nothing to do with a question but a word or a name that it shares with it."""
    if question.nested or trail.reached(key):
        return False
    return not (trail.mentions(key) and bears_on(question, sentence))


def _short(sentence: Sentence, needs: Sequence[frozenset[str]]) -> Sentence:
    """The sentence cut short, keeping the first set of terms that lets it come down to a readable length."""
    for needed in needs:
        short = tighten(sentence, needed, TRIM_FROM)
        if word_count(short.text) <= READABLE:
            return short
    return short


def telling_sentence(
    question: Question, hit: Hit, links: Collection[str], wanted: Mapping[str, float], taken: Sequence[Sentence]
) -> Sentence | None:
    """The sentence of a passage that shares most with the question, holds the names of its chain or terms still `wanted`, and
    repeats none taken."""
    scored = [
        (_worth(question, sentence, links, place) + _fills(sentence, wanted), -place, sentence)
        for place, sentence in enumerate(hit.sentences)
        if not any(repeats(sentence.term_set, other.term_set) for other in taken)
    ]
    best = max(scored, default=None, key=lambda found: found[:2])
    return best[2] if best and best[0] > 0 else None


def _fills(sentence: Sentence, wanted: Mapping[str, float]) -> float:
    """What a sentence earns for what the chain still lacks, weighed as it can be quoted."""
    held = sum(weight for term, weight in wanted.items() if term in sentence.term_set)
    return FILL_BONUS * shape(sentence) * held / (sum(wanted.values()) or 1.0)


def _worth(question: Question, sentence: Sentence, links: Collection[str], place: int) -> float:
    held = sum(sentence.term_set.issuperset(link.split()) for link in links)
    value = (
        question.subject_share(sentence.term_set)
        - LENGTH_COST * len(sentence.terms)
        + LINK_BONUS * min(2, held)
        + (FIRST_BONUS if place == 0 else 0.0)
    )
    value = max(value + answer_cue(question.text, sentence.text), LEAST)
    return value * shape(sentence) * (LEANING if leans(sentence) and place else 1.0)
