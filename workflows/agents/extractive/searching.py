"""The deep-search agent without a model: rounds of searches, each reading off the last what to ask next, then the best
sentences."""

from dataclasses import dataclass

from app.domain.budget import StopReason
from app.domain.citations import marker_of
from app.domain.evidence import Finding
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from workflows.agents.extractive.asking import asked_of
from workflows.agents.extractive.aspects import find_aspects
from workflows.agents.extractive.coverage import answerable, answered_in_one, bears_on, missing_words, promising
from workflows.agents.extractive.focus import bearing_on, many, on_subject, on_topic, spoken, told_apart
from workflows.agents.extractive.gathering import Gathering
from workflows.agents.extractive.hits import Hit, joined_terms
from workflows.agents.extractive.links import chain_sentences
from workflows.agents.extractive.period import Period
from workflows.agents.extractive.phrasing import counting, phrases_in
from workflows.agents.extractive.question import Question, analyse
from workflows.agents.extractive.relevance import Lens
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.several import asked_apart
from workflows.agents.extractive.statements import lens_for, lens_on, statements
from workflows.agents.extractive.trail import Trail
from workflows.agents.extractive.words import terms
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.stage_memory import path_of_search

FIRST_PASSAGES = 60
QUESTION_PASSAGES = 20
FOLLOW_UP_PASSAGES = 25
FOLLOW_UPS = 4
ANCHORS = 3
NEXT_ANCHORS = 3
NAMES = 2
NAME_PASSAGES = 5
STATEMENTS = 12
LINKS = 10
ASPECT_WEIGHT = 1.0
FEW = 3
"""So many passages on its subject make a statement of a period of its own, which has fewer to choose from."""


@dataclass(slots=True)
class _Task:
    """The whole question, the subtask's own, what was found for them, and how many other parts the plan has."""

    whole: Question
    own: Question
    gathering: Gathering
    trail: Trail
    others: int

    @property
    def subject(self) -> Question:
        """Whose subject passages must hold: the whole question's, or the subtask's where that is one side of a comparison."""
        return self.own if self.is_side else self.whole

    @property
    def is_side(self) -> bool:
        """Whether this is one side of a comparison: what leads on from it is no part of it."""
        return len(self.whole.sides) > 1 and self.own.text != self.whole.text

    @property
    def topic(self) -> frozenset[str]:
        """What one side of a comparison is asked about, beside the names of the sides."""
        sides = frozenset(term for side in self.whole.sides for term in terms(side))
        return self.own.subject_terms - sides if self.is_side else frozenset()

    @property
    def direct(self) -> bool:
        """Whether this is the whole of a question that asks for one thing, and passages answer it by themselves."""
        whole = self.own.text == self.whole.text and self.others == 0
        return whole and self.whole.closed and answered_in_one(self.whole, self.gathering.hits)

    @property
    def fitting(self) -> list[Hit]:
        """Passages on the subject."""
        return on_subject(self.subject, list(self.gathering.hits))

    @property
    def many(self) -> int:
        """How many passages on the subject make it one on which much is said."""
        return many(self.subject, list(self.gathering.hits))

    @property
    def aspect(self) -> dict[str, float]:
        """What the subtask asks about beyond the question's subject."""
        return dict.fromkeys(self.own.subject_terms - self.whole.subject_terms, ASPECT_WEIGHT)


async def search_deeply(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
    """Work one subtask (MindDR section 3.1, deep search) by search alone; every quote is an exact stretch of its source."""
    whole, own = analyse(asked_of(query, plan.readings)), analyse(subtask.question)
    gathering = Gathering(path_of_search(subtask.id), kit, _narrower(whole.period, own.period))
    alone = subtask.added or own.text in asked_apart(whole.text)
    whole = own if alone else whole
    task = _Task(
        whole, own, gathering, Trail(whole, gathering), 0 if alone else sum(not other.added for other in plan.subtasks) - 1
    )
    stop = StopReason.SUFFICIENT
    try:
        await _explore(task)
    except BudgetSpent as spent:
        stop = spent.reason
    return _finding(subtask, task, _chosen(task), stop)


async def _explore(task: _Task) -> None:
    look = task.gathering.look
    own = await look(task.own.subject, FIRST_PASSAGES)
    asked = await look(task.subject.text, QUESTION_PASSAGES)
    await task.gathering.look_otherwise(task.own, FOLLOW_UP_PASSAGES)
    if argued := phrases_in(task.whole.language).argued.get(task.whole.kind):
        await look(argued.format(subject=task.subject.subject), FOLLOW_UP_PASSAGES)
    if not task.gathering.hits and task.gathering.hits.outside and task.own.period == task.whole.period:
        own = list(task.gathering.hits.relax())
    task.trail.begin(asked, ranked=True)
    task.trail.begin(own, ranked=False)
    if task.direct or task.is_side:
        return
    if len(task.fitting) >= task.many:
        await _widen(task)
    elif promising(task.whole, list(task.gathering.hits)):
        await _follow(task, own)


async def _widen(task: _Task) -> None:
    """Plenty is said on the subject: ask again with the phrases that keep it company (pseudo-relevance feedback)."""
    avoid = frozenset(task.subject.weights) | task.aspect.keys()
    for aspect in find_aspects(told_apart(Lens(task.subject, task.aspect), task.fitting), FOLLOW_UPS, avoid):
        await task.gathering.look(f"{task.subject.subject} {aspect.phrases[0]}", FOLLOW_UP_PASSAGES)


async def _follow(task: _Task, own: list[Hit]) -> None:
    """Little is said in one place: follow names from passage to passage (multi-hop).

    A part of its own starts from its first passage and goes two links far; the part on the question itself starts from the
    passages that no other part starts from, one link far.
    """
    if task.own.text != task.whole.text:
        titled = joined_terms(task.own.subject)
        start = {hit.key for hit in own if hit.title == titled} or {hit.key for hit in own[:1]}
        reached = await task.trail.follow(task.trail.best(start, 1))
        await task.trail.follow(task.trail.best(reached, NEXT_ANCHORS))
        return
    for name in task.whole.names[:NAMES]:
        task.trail.begin(await task.gathering.look(name, NAME_PASSAGES), ranked=False)
    best = task.trail.best(set(task.trail.scores), task.others + ANCHORS)
    await task.trail.follow(best[task.others :])


def _chosen(task: _Task) -> list[tuple[float, Sentence]]:
    if task.direct or task.is_side:
        fitting = bearing_on(task.subject, on_topic(spoken(task.subject, list(task.gathering.hits)), task.topic))
        chosen = _stated(lens_on(task.subject, fitting, task.aspect), fitting)
        if task.topic:
            return [pair for pair in chosen if not task.topic.isdisjoint(pair[1].term_set)]
        return [pair for pair in chosen if bears_on(task.subject, pair[1])]
    fitting = task.fitting
    if len(fitting) >= (FEW if task.own.period != task.whole.period else task.many):
        return _stated(lens_for(task.subject, fitting, task.aspect), fitting)
    if task.own.text == task.whole.text and not answerable(task.whole, list(task.trail.hits.values())):
        return []
    return chain_sentences(task.whole, task.trail, LINKS)


def _stated(lens: Lens, hits: list[Hit]) -> list[tuple[float, Sentence]]:
    return [(lens.score(sentence, True), sentence) for sentence in statements(lens, hits, STATEMENTS)]


def _narrower(whole: Period, own: Period) -> Period:
    """The years both periods hold."""
    firsts = [first for first in (whole.first, own.first) if first is not None]
    lasts = [last for last in (whole.last, own.last) if last is not None]
    return Period(max(firsts, default=None), min(lasts, default=None))


def _gaps(task: _Task) -> tuple[str, ...]:
    """Words of the question that nothing read holds, and what went wrong with a tool."""
    words = phrases_in(task.whole.language)
    missing = [words.missing.format(word=word) for word in missing_words(task.whole, list(task.gathering.hits))]
    return (*missing, *task.gathering.errors)


def _finding(subtask: Subtask, task: _Task, chosen: list[tuple[float, Sentence]], stop: StopReason) -> Finding:
    quotes = tuple(sentence.quote for _, sentence in chosen)
    sources = len({quote.source.url for quote in quotes})
    passages = len(task.gathering.hits)
    words = phrases_in(task.whole.language)
    if not quotes and stop is StopReason.SUFFICIENT:
        stop = StopReason.NO_EVIDENCE
    return Finding(
        subtask_id=subtask.id,
        answer=" ".join(f"“{' '.join(quote.text.split())}” {marker_of(quote)}" for quote in quotes[:3]),
        quotes=quotes,
        relevance=tuple(round(score, 6) for score, _ in chosen),
        gaps=_gaps(task),
        stop=stop,
        detail=counting(words.found, quotes=len(quotes), sources=sources, passages=passages)
        if quotes
        else counting(words.none_found, passages=passages)
        if passages
        else words.none_read,
        turns=task.gathering.calls,
        usage=task.gathering.usage,
    )
