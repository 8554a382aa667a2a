"""A report on a question that few passages bear on: the chain of evidence, the most telling link first, kept short."""

import math
from collections.abc import Sequence

from app.domain.query import Effort, Language
from app.domain.report import Section
from workflows.agents.extractive.attribution import credit, quoted
from workflows.agents.extractive.chains import TITLE_BONUS
from workflows.agents.extractive.coverage import FULL, holds_asked
from workflows.agents.extractive.cues import answer_cue, can_answer
from workflows.agents.extractive.hits import joined_terms
from workflows.agents.extractive.material import Item, Material
from workflows.agents.extractive.names import bare_title
from workflows.agents.extractive.phrasing import phrases_in
from workflows.agents.extractive.prose import model_prose
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.words import terms, word_count

STATEMENTS = {Effort.QUICK: 5, Effort.STANDARD: 7, Effort.DEEP: 12}
LEAD = 3
NEARBY = 1
"""Further statements where none answers what was asked for."""
RANK_SHARE, RANK_SCALE = 0.6, 2
OWN_SHARE = 0.3
FOUND_AGAIN = 0.1
REPEATED_COVER = 0.5
TAIL = 0.4
LED_TO = 1.3
BRIEF, BREVITY = 15, 0.3


def trace(question: Question, material: Material, effort: Effort, scale: float = 1.0) -> list[Section]:
    """The sections: the statements that carry the answer, then further evidence; `scale` times the usual number of them."""
    words = phrases_in(question.language)
    ranked = _as_found if len(material.titles) == 1 else _ranked
    chosen = ranked(question, material, max(LEAD, round(STATEMENTS[effort] * scale)))
    prose = [block for finding in material.findings for block in model_prose(finding)]
    lead, rest = chosen[:LEAD], chosen[LEAD:]
    nearest = [] if _answered(question, chosen) else [words.nearest]
    rest = rest[:NEARBY] if nearest and not question.nested else rest
    sections = [Section(heading=words.lead, body="\n\n".join([*prose, *nearest, _told(question.language, lead)]))]
    if rest:
        sections.append(Section(heading=words.evidence, body=_told(question.language, rest)))
    return sections


def _told(language: Language, items: Sequence[Item]) -> str:
    """One paragraph a statement, each with its own credit: they follow the chain, not the calendar."""
    return "\n\n".join(f"{credit(item.sentence.quote, language)}{quoted(item.sentence.quote)}" for item in items)


def _answered(question: Question, items: Sequence[Item]) -> bool:
    """Whether statements hold enough of a question to answer it: where it names what it asks about, also what it asks of that,
    and the date or figure."""
    if _cover(question, items) < FULL:
        return False
    texts = [item.sentence.text.lower() for item in items]
    if any(not any(one in text or one.replace("-", " ") in text for text in texts) for one in question.compounds):
        return False
    held = frozenset(term for item in items for term in _held(item))
    said = any(can_answer(question.text, item.sentence.text) for item in items)
    return question.nested or (said and holds_asked(question, held))


def _cover(question: Question, items: Sequence[Item]) -> float:
    held = frozenset(term for item in items for term in _held(item))
    return question.subject_share(held)


def _held(item: Item) -> frozenset[str]:
    return item.sentence.term_set | frozenset(terms(item.sentence.source.title))


def _as_found(_: Question, material: Material, most: int) -> list[Item]:
    """The best items of a question that was not split, since single passages answer it: in the order of their search."""
    return sorted(material.items, key=lambda item: item.rank)[:most]


def _ranked(question: Question, material: Material, most: int) -> list[Item]:
    """The best items, each in view of those before it: what repeats the question's words counts less, what is short or named
    already more."""
    worth = _worths(question, material.items)
    left = sorted(material.items, key=lambda item: (-worth[item.sentence.place], item.part, item.rank))
    floor = TAIL * worth[left[0].sentence.place] if left else 0.0
    times: dict[str, int] = {}
    chosen: list[Item] = []
    while left and len(chosen) < most:
        now = [worth[i.sentence.place] * _fresh(question, i, times) * _led_to(i, chosen) * _brief(i) for i in left]
        best = max(range(len(left)), key=now.__getitem__)
        if now[best] < floor:
            break
        item = left.pop(best)
        chosen.append(item)
        for term in question.subject_terms & _held(item):
            times[term] = times.get(term, 0) + 1
    return chosen


def _fresh(question: Question, item: Item, times: dict[str, int]) -> float:
    held = {term: question.subject_weights[term] for term in question.subject_terms & _held(item)}
    seen = sum(weight * (1 - 0.5 ** times.get(term, 0)) for term, weight in held.items())
    return 1 - REPEATED_COVER * (seen / sum(held.values()) if held else 0.0)


def _led_to(item: Item, chosen: Sequence[Item]) -> float:
    """More for a passage whose title a statement chosen from another source names: there the chain goes on."""
    source = item.sentence.source
    title = joined_terms(bare_title(source.title))
    others = [other.sentence for other in chosen if other.sentence.source.title != source.title]
    return LED_TO if any(title in f" {' '.join(other.terms)} " for other in others) else 1.0


def _brief(item: Item) -> float:
    """Less for a long quotation: it takes the room of another passage."""
    return math.pow(BRIEF / max(BRIEF, word_count(item.sentence.text)), BREVITY)


def _worths(question: Question, items: Sequence[Item]) -> dict[tuple[str, int], float]:
    """Each item's worth: what its search says its passage is worth, or else a guess, and what the sentence itself answers."""
    guessed = any(item.relevance is None for item in items)
    return {
        item.sentence.place: (_guess(question, item) if guessed else item.relevance or 0.0) + _answers(question, item)
        for item in items
    }


def _answers(question: Question, item: Item) -> float:
    return OWN_SHARE * question.subject_share(_held(item)) + answer_cue(question.text, item.sentence.text)


def _guess(question: Question, item: Item) -> float:
    title = joined_terms(bare_title(item.sentence.source.title))
    named = TITLE_BONUS if title.strip() and title in joined_terms(question.text) else 0.0
    return RANK_SHARE / (1 + item.rank / RANK_SCALE) + named + FOUND_AGAIN * (item.found - 1)
