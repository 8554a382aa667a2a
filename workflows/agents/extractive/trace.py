"""A report on a question that few passages bear on: the chain of evidence, the most telling link first, kept short."""

from collections.abc import Sequence

from app.domain.query import Effort
from app.domain.report import Section
from workflows.agents.extractive.attribution import Narrator, quoted
from workflows.agents.extractive.chains import COVERAGE_SHARE, DECAY, LINK_SHARE, MENTIONED, REST_SHARE, TITLE_BONUS
from workflows.agents.extractive.coverage import FULL
from workflows.agents.extractive.hits import joined_terms
from workflows.agents.extractive.material import Item, Material
from workflows.agents.extractive.names import bare_title, names
from workflows.agents.extractive.phrasing import phrases_in
from workflows.agents.extractive.prose import model_prose
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.words import terms

STATEMENTS = {Effort.QUICK: 5, Effort.STANDARD: 7, Effort.DEEP: 12}
LEAD = 3
RANK_SHARE, RANK_SCALE = 0.6, 2
CHAINED = 0.6
FOUND_AGAIN = 0.1
REPEATED_COVER = 0.3
TAIL = 0.45


def trace(question: Question, material: Material, effort: Effort) -> list[Section]:
    """The sections: the statements that carry the answer, then further evidence."""
    words = phrases_in(question.language)
    chosen = _ranked(question, material, STATEMENTS[effort])
    prose = [block for finding in material.findings for block in model_prose(finding)]
    lead, rest = chosen[:LEAD], chosen[LEAD:]
    told = _told(question, lead)
    if _cover(question, chosen) < FULL:
        told = f"{words.nearest} {told}"
    sections = [Section(heading=words.lead, body="\n\n".join([*prose, told]))]
    if rest:
        sections.append(Section(heading=words.evidence, body=_told(question, rest)))
    return sections


def _told(question: Question, items: Sequence[Item]) -> str:
    narrator = Narrator(question.language)
    return " ".join(narrator.introduce(item.sentence.quote) + quoted(item.sentence.quote) for item in items)


def _cover(question: Question, items: Sequence[Item]) -> float:
    held = frozenset(term for item in items for term in _held(item))
    return question.subject_share(held)


def _held(item: Item) -> frozenset[str]:
    return item.sentence.term_set | frozenset(terms(item.sentence.source.title))


def _ranked(question: Question, material: Material, most: int) -> list[Item]:
    """The best items; one whose words of the question are all covered already has to be better than one that adds some."""
    worth = _worths(question, material.items)
    left = sorted(material.items, key=lambda item: (-worth[item.sentence.place], item.part, item.rank))
    floor = TAIL * worth[left[0].sentence.place] if left else 0.0
    times: dict[str, int] = {}
    chosen: list[Item] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda item: worth[item.sentence.place] * _fresh(question, item, times))
        left.remove(best)
        if worth[best.sentence.place] >= floor:
            chosen.append(best)
            for term in question.subject_terms & _held(best):
                times[term] = times.get(term, 0) + 1
    return chosen


def _fresh(question: Question, item: Item, times: dict[str, int]) -> float:
    held = {term: question.subject_weights[term] for term in question.subject_terms & _held(item)}
    seen = sum(weight * (1 - 0.5 ** times.get(term, 0)) for term, weight in held.items())
    return 1 - REPEATED_COVER * (seen / sum(held.values()) if held else 0.0)


def _worths(question: Question, items: Sequence[Item]) -> dict[tuple[str, int], float]:
    """Each item's worth: what its search says, else by itself or as the next link after another that names what it is about."""
    known = {item.sentence.place: item.relevance for item in items if item.relevance is not None}
    if len(known) == len(items):
        return known
    alone = {item.sentence.place: _alone(question, item) for item in items}
    worth = dict(alone)
    for parent in items:
        left = {t: w for t, w in question.subject_weights.items() if t not in _held(parent)}
        named = [joined_terms(name) for name in names(parent.sentence.text)]
        for item in items:
            if item.sentence.source.url != parent.sentence.source.url and (link := _link(question, item, named)):
                rest = sum(w for t, w in left.items() if t in _held(item)) / (sum(left.values()) or 1.0)
                earned = DECAY * alone[parent.sentence.place] * (LINK_SHARE * link + REST_SHARE * rest)
                place = item.sentence.place
                worth[place] = max(worth[place], alone[place] + CHAINED * earned)
    return worth


def _link(question: Question, item: Item, named: Sequence[str]) -> float:
    """Whether an item is titled after, or mentions, a name that the question does not: 1, 0.6 or 0."""
    asked, title = joined_terms(question.text), joined_terms(bare_title(item.sentence.source.title))
    new = [name for name in named if name.strip() and name not in asked]
    if title in new:
        return 1.0
    return MENTIONED if any(item.sentence.term_set.issuperset(name.split()) for name in new) else 0.0


def _alone(question: Question, item: Item) -> float:
    title = joined_terms(bare_title(item.sentence.source.title))
    named = TITLE_BONUS if title.strip() and title in joined_terms(question.text) else 0.0
    share = question.subject_share(_held(item))
    return RANK_SHARE / (1 + item.rank / RANK_SCALE) + COVERAGE_SHARE * share + named + FOUND_AGAIN * (item.found - 1)
