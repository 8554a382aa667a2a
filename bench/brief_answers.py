"""The answers that `bench.brief` compares: the product's brief, and others of the same length without its choice of sentences."""

from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from app.domain.evidence import Quote
from app.domain.query import ResearchQuery, detect_language
from app.domain.report import Report
from retrieval.language.blocks import count_words
from retrieval.ports import SearchFilter
from retrieval.search.in_process import LocalSearcher
from retrieval.search.library import Library
from workflows.agents.brief import BRIEF
from workflows.agents.brief.ranking import share_words
from workflows.agents.brief.splitting import split_passage
from workflows.agents.brief.units import Unit
from workflows.agents.brief.wording import WORDINGS
from workflows.agents.codec import SchemaCodec
from workflows.agents.effort import BOUNDS, LIMITS
from workflows.agents.kit import Kit
from workflows.chat_models.absent import AbsentModel
from workflows.prompts.library import PromptLibrary
from workflows.systems.local import LocalStages
from workflows.systems.local_record import LocalRecord
from workflows.systems.minddr import research
from workflows.systems.steering import PlanSteering
from workflows.tools.tool_memory import DictToolStore, ToolMemory
from workflows.tools.toolbox import ToolCorpora, build_toolbox

DEEPEST = 100


class BriefAnswer(NamedTuple):
    """The quotations of a brief, and whether it says that nothing may answer."""

    quotes: Sequence[Quote]
    says_nothing: bool


async def write_brief(question: str, collection: str, searcher: LocalSearcher) -> tuple[BriefAnswer, Report]:
    """Write the brief as the product does, with its plan, its search and its report stage."""
    query = ResearchQuery(question=question, language=detect_language(question))
    record = LocalRecord("bench")
    kit = Kit(
        chat=AbsentModel(),
        tools=build_toolbox(searcher, searcher, ToolCorpora((collection,)), ToolMemory(DictToolStore()), withholds=False),
        record=record,
        prompts=PromptLibrary.load(),
        codec=SchemaCodec(),
        today=date(2026, 1, 1),
        clock=lambda: 0.0,
        limits=LIMITS[query.effort],
        bounds=BOUNDS[query.effort],
        language=query.language,
    )
    report = await research(query, LocalStages(BRIEF, kit, record, query), PlanSteering())
    return BriefAnswer(report.quotes, _says_nothing(report)), report


def _says_nothing(report: Report) -> bool:
    """Say whether a report says that nothing was found, or that nothing may answer."""
    starts = tuple(text.partition("{")[0] for what in ("weak", "nothing") for text in WORDINGS[what].values())
    return any(told.startswith(starts) for told in (*report.notices, *(section.body for section in report.sections)))


def score_by_words(question: str, collection: str, searcher: LocalSearcher) -> list[list[tuple[float, Unit]]]:
    """Return for each passage that BM25 finds, best first, its sentences with the share of the question's words they hold."""
    shelves = searcher.shelves
    library = Library(shelves.catalogue, shelves.store, shelves.index, lambda: None)
    library.refresh(collection)
    passages = library.search(question, DEEPEST, SearchFilter(collections=(collection,)))
    units = [own for passage in passages if (own := split_passage(passage))]
    shares = iter(share_words(question, [unit for own in units for unit in own]))
    return [[(next(shares), unit) for unit in own] for own in units]


def quote_best_of_each(scored: Sequence[Sequence[tuple[float, Unit]]], words: float) -> list[Quote]:
    """Quote the best sentence of each passage, best passage first, up to a number of words."""
    return _take([max(own, key=lambda each: each[0])[1] for own in scored], words)


def quote_best(scored: Sequence[Sequence[tuple[float, Unit]]], words: float) -> list[Quote]:
    """Quote the best sentences of all passages, up to a number of words."""
    ordered = sorted((each for own in scored for each in own), key=lambda each: -each[0])
    return _take([unit for _, unit in ordered], words)


async def quote_leads(question: str, collection: str, searcher: LocalSearcher, words: float) -> list[Quote]:
    """Quote the first sentence of each passage that the hybrid search finds, up to a number of words."""
    passages = await searcher.search(question, DEEPEST, SearchFilter(collections=(collection,)))
    return _take([units[0] for passage in passages if (units := split_passage(passage))], words)


def _take(units: Iterable[Unit], words: float) -> list[Quote]:
    taken: list[Quote] = []
    for unit in units:
        if words <= 0:
            break
        words -= count_words(unit.text)
        taken.append(unit.to_quote())
    return taken
