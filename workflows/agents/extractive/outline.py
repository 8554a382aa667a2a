"""How a question divides, read off a first search: by periods, by sides compared, by aspects, or by where a chain of evidence
starts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.query import Language
from workflows.agents.extractive.aspects import find_aspects
from workflows.agents.extractive.chains import direct_score
from workflows.agents.extractive.coverage import answerable, answered_in_one
from workflows.agents.extractive.entities import Entities
from workflows.agents.extractive.focus import many, on_subject, told_apart
from workflows.agents.extractive.framing import FRAME_NOUNS
from workflows.agents.extractive.hits import Hit
from workflows.agents.extractive.kinds import QuestionKind
from workflows.agents.extractive.names import bare_title, names_topic
from workflows.agents.extractive.phrasing import phrases_in
from workflows.agents.extractive.question import Question
from workflows.agents.extractive.relevance import Lens
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.several import asked_apart
from workflows.agents.extractive.telling import TELLING
from workflows.agents.extractive.timeline import Span, divide
from workflows.agents.extractive.words import term_of, terms

LEAST_PARTS = 2
LEAST_YEARS = 25
LEAST_PASSAGES = 2
ANCHORS = 4
UNRANKED = 99
PERIOD_PHRASES = 2
_VERB = re.compile(r"\s(?:should|would|could|can|may|might|must|will|is|are|was|were|be|has|have|had)\s")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the work: a heading, and the question to search by."""

    title: str
    question: str


@dataclass(frozen=True, slots=True)
class Probe:
    """What a first search brought: all passages, those for the question itself (best first), and sentences on anything else."""

    hits: tuple[Hit, ...]
    asked: tuple[Hit, ...]
    background: tuple[Sentence, ...] = ()


def outline(question: Question, probe: Probe, most: int) -> list[Part]:
    """The parts of a question, at most `most` and at least one."""
    if asked := asked_apart(question.text):
        return [Part(one, one) for one in asked[:most]]
    if len(question.sides) >= LEAST_PARTS:
        return _by_side(question, probe, most)
    if question.closed and answered_in_one(question, probe.hits):
        return [Part(phrases_in(question.language).direct, question.text)]
    fitting = on_subject(question, probe.hits)
    if len(fitting) < many(question, probe.hits):
        return _by_anchor(question, probe, most)
    if question.kind is QuestionKind.CHANGE and (spans := _spans(fitting, most)):
        return _by_period(question, fitting, probe, spans)
    return _by_aspect(question, fitting, probe, most)


def _by_anchor(question: Question, probe: Probe, most: int) -> list[Part]:
    words = phrases_in(question.language)
    if not answerable(question, probe.hits):
        return [Part(words.direct, question.text)]
    ranks = {hit.key: rank for rank, hit in enumerate(probe.asked)}
    entities = Entities(question)
    entities.learn(probe.hits)
    scored = [(direct_score(question, entities, hit, ranks.get(hit.key, UNRANKED)), hit.key, hit) for hit in probe.hits]
    best = sorted(scored, key=lambda found: (-found[0], found[1]))
    titles = dict.fromkeys(bare_title(hit.passage.source.title) for _, _, hit in best if names_topic(hit.passage.source))
    anchors = [Part(title, words.about.format(what=title)) for title in list(titles)[: min(ANCHORS, most - 1)]]
    return [Part(words.direct, question.text), *anchors]


def _by_side(question: Question, probe: Probe, most: int) -> list[Part]:
    """A part each side; one who speaks in the sources is asked for by what he said."""
    words = phrases_in(question.language)
    sides = question.sides[:most]
    named = {term_of(word) for side in sides for word in side.split()}
    rest = " ".join(word for word in question.subject.split() if term_of(word) and term_of(word) not in named)
    authors = [frozenset(terms(hit.passage.source.author)) for hit in probe.hits]
    speak = {side: any(author.issuperset(terms(side)) for author in authors) for side in sides}
    return [
        Part(
            side,
            words.said_about.format(who=side, what=rest)
            if speak[side] and rest
            else words.about.format(what=f"{side} {rest}".strip()),
        )
        for side in sides
    ]


def _spans(fitting: Sequence[Hit], most: int) -> list[Span]:
    years = [hit.year for hit in fitting if hit.year is not None]
    if not years or max(years) - min(years) < LEAST_YEARS:
        return []
    spans = [span for span in divide(years, most) if sum(span.first <= year <= span.last for year in years) >= LEAST_PASSAGES]
    return spans if len(spans) >= LEAST_PARTS else []


def _by_period(question: Question, fitting: Sequence[Hit], probe: Probe, spans: Sequence[Span]) -> list[Part]:
    words = phrases_in(question.language)
    parts: list[Part] = []
    used: set[str] = set()
    for span in spans:
        inside = [hit for hit in fitting if hit.year is not None and span.first <= hit.year <= span.last]
        heading = _heading(question, inside, probe, used)
        years = f"{span.first}–{span.last}" if span.first != span.last else str(span.first)
        asked = words.about_years.format(what=question.subject, first=span.first, last=span.last)
        parts.append(Part(f"{years}{words.colon}{heading}" if heading else years, asked))
    return parts


def _heading(question: Question, inside: Sequence[Hit], probe: Probe, used: set[str]) -> str:
    """What a period's passages speak of and earlier headings do not."""
    apart = told_apart(Lens(question), inside, probe.background)
    aspects = find_aspects(apart, PERIOD_PHRASES, frozenset(used) | question.weights.keys())
    used.update(term for aspect in aspects for term in aspect.terms)
    return joined([aspect.phrases[0] for aspect in aspects], question.language)


def _by_aspect(question: Question, fitting: Sequence[Hit], probe: Probe, most: int) -> list[Part]:
    words = phrases_in(question.language)
    direct = words.by_kind.get(question.kind)
    parts = [Part(direct.format(subject=_noun(question)), question.text)] if direct else []
    if parts and question.asks_who:
        return parts  # a list of who did is one part
    if parts and sum(question.telling_weights.values()) < TELLING:
        return parts  # of what is met everywhere, as war is, no phrase is a side
    apart = told_apart(Lens(question), fitting, probe.background)
    for aspect in find_aspects(apart, most - len(parts), frozenset(question.weights)):
        title = joined(aspect.phrases, question.language)
        title = title[:1].upper() + title[1:]
        parts.append(Part(title, aspect_question(question, title)))
    return parts or [Part(words.direct, question.text)]


def aspect_question(question: Question, title: str) -> str:
    """What is searched by for an aspect of a question's subject."""
    words = phrases_in(question.language)
    return words.about.format(what=f"{question.subject}{words.comma}{title}")


def _noun(question: Question) -> str:
    """A question's subject up to its verb, with its article: "railroads" of "railroads should be regulated"."""
    noun = _VERB.split(question.subject, maxsplit=1)[0].strip() or question.subject
    said = re.search(rf"\bthe {re.escape(noun)}(?:\s+(?P<after>[\w'’-]+))?", question.text)
    if said is None:
        return noun
    # The article of "the silver question" belongs to its last word.
    framed = bool(said["after"]) and term_of(said["after"]) in FRAME_NOUNS
    return noun if framed else f"the {noun}"


def joined(phrases: Sequence[str], language: Language) -> str:
    """ "a", "a and b", "a, b and c", in the language."""
    words = phrases_in(language)
    if len(phrases) < 2:
        return "".join(phrases)
    return words.comma.join(phrases[:-1]) + words.conjunction + phrases[-1]
