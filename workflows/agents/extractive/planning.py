"""The planning agent without a model: a first search, then subtasks read off what it brought."""

from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import Language, ResearchQuery
from app.domain.reading import Reading
from workflows.agents.extractive.asking import asked_of, asking
from workflows.agents.extractive.eras import era_reading
from workflows.agents.extractive.focus import many, on_subject
from workflows.agents.extractive.gathering import Gathering
from workflows.agents.extractive.hits import Hit
from workflows.agents.extractive.outline import Part, Probe, outline
from workflows.agents.extractive.phrasing import counting, phrases_in
from workflows.agents.extractive.question import Question, analyse
from workflows.agents.extractive.sentences import Sentence
from workflows.agents.extractive.spelling import readings_of
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.stage_memory import PLANNER

PROBE_PASSAGES = 80
QUESTION_PASSAGES = 20
NAME_PASSAGES = 5
NAMES = 3
SKIMMED = 4


async def make_plan(query: ResearchQuery, kit: Kit) -> ResearchPlan:
    """Analyse the question, probe the corpus, split the question by what is there (MindDR section 3.1, planning agent)."""
    question = analyse(asked_of(query))
    gathering = Gathering(PLANNER, kit, question.period)
    probe = await _probe(question, gathering)
    readings = await _readings(question, gathering)
    if readings:
        question = analyse(asked_of(query, readings))
        probe = await _probe(question, Gathering(PLANNER, kit, question.period))
    parts = outline(question, probe, kit.bounds.subtasks)
    subtasks = tuple(_subtask(number, part, query.language) for number, part in enumerate(parts, 1))
    return ResearchPlan(
        intent=_intent(question, probe, query.language),
        title=title_of(asking(query.question)),
        subtasks=subtasks,
        readings=readings,
    )


async def _readings(question: Question, gathering: Gathering) -> tuple[Reading, ...]:
    era = era_reading(question, (*gathering.hits, *gathering.hits.outside))
    named = (era,) if era else ()
    try:
        return (*named, *await readings_of(question, gathering))
    except BudgetSpent:
        return named  # as in the probe


async def _probe(question: Question, gathering: Gathering) -> Probe:
    """Search for the question, its subject and its names, and skim a few sources for what they speak of otherwise."""
    asked: list[Hit] = []
    background: list[Sentence] = []
    try:
        asked = await gathering.look(question.text, QUESTION_PASSAGES)
        await gathering.look(question.subject, PROBE_PASSAGES)
        await gathering.look_otherwise(question, QUESTION_PASSAGES)
        for name in question.names[:NAMES]:
            await gathering.look(name, NAME_PASSAGES)
        if not gathering.hits and gathering.hits.outside:
            asked = list(gathering.hits.relax())
        fitting = on_subject(question, list(gathering.hits))
        if len(fitting) >= many(question, list(gathering.hits)):
            for url in list(dict.fromkeys(hit.passage.source.url for hit in fitting))[:SKIMMED]:
                background.extend(await gathering.skim(url))
    except BudgetSpent:
        pass  # a plan from what there is; the run stops at its next stage by itself
    return Probe(tuple(gathering.hits), tuple(asked), tuple(background))


def _subtask(number: int, part: Part, language: Language) -> Subtask:
    words = phrases_in(language)
    return Subtask(
        id=f"s{number}",
        title=part.title[:200],
        question=part.question[:2_000],
        purpose=words.purpose.format(title=part.title)[:1_000],
        expected_evidence=words.expected_evidence,
    )


def _intent(question: Question, probe: Probe, language: Language) -> str:
    words = phrases_in(language)
    years = sorted(hit.year for hit in probe.hits if hit.year is not None)
    found = counting(words.probe, passages=len(probe.hits), sources=len({hit.passage.source.url for hit in probe.hits}))
    span = words.dated.format(first=years[0], last=years[-1]) if years else ""
    return words.intent[question.kind].format(subject=question.subject[:300]) + words.space + found + span


def title_of(question: str) -> str:
    """The question on one line, its first letter a capital."""
    line = " ".join(question.split())
    line = line if len(line) <= 200 else line[:199].rsplit(" ", 1)[0] + "…"
    return line[:1].upper() + line[1:]
