"""The deep-search agent without a model: it finds passages, ranks their sentences by the question, and searches once more.

The second search asks the question together with the two best sentences of the first, since a source often names what another
source has the answer about.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from app.domain.budget import StopReason
from app.domain.citations import marker_of
from app.domain.evidence import Finding, FormKind, Passage, Quote
from app.domain.plan import ResearchPlan, Subtask
from app.domain.query import ResearchQuery
from app.domain.script import IDEOGRAPHS
from retrieval.language.english import drop_small_words, is_in_other_language
from retrieval.language.stems import stem_word
from retrieval.language.years import find_years
from workflows.agents.brief.choosing import add_further, choose_units
from workflows.agents.brief.entries import leave_out_other_entries
from workflows.agents.brief.ranking import (
    Meanings,
    RankedUnit,
    Ratings,
    add_ratings,
    list_rated,
    prefer_authors,
    prefer_years,
    rank_units,
    strip_sources,
    title_and_text,
)
from workflows.agents.brief.searches import MOST_COMPARED, Searches
from workflows.agents.brief.splitting import split_passages
from workflows.agents.brief.units import Unit
from workflows.agents.brief.wording import tell
from workflows.agents.kit import Kit
from workflows.agents.ports import BudgetSpent
from workflows.agents.stage_memory import path_of_search
from workflows.checks.rarity import load_rarity

_WORD = re.compile(rf"(?<!['’])\b[^\W_{IDEOGRAPHS}]{{3,}}(?!\w|['’](?!s\b))")
PASSAGES = 50
PASSAGES_OF_OTHERS = 20
"""The passages that are searched for an agent that has found its own."""
LEADS = 2
SECOND = 0.85
"""What the score of a passage counts that only the second search found."""
WEAK, WEAK_IF_RATED_LOW, LOW, SURE = 0.2, 0.26, 0.09, 0.2
"""The cosine of question and best passage below which nothing found may answer; a higher one where all ratings are below `LOW`.
Fitted on the build halves of `bench.brief`, with questions that were asked of the wrong folder.

Not so where one rating is above `SURE`: an answer may be one line of a passage about many things. That limit is a guess from
twelve askings: the best rating was .28 to .88 with an answer, at most .05 without. Questions without an answer whose
subject the sources do speak of are not told apart by any figure that was tried.
"""
FALL = 0.05
"""The share of the best rating below which a statement is beside the point.

With `writing.SHOWN` it spares a tenth to a quarter of the words for .01 to .02 of the gold, on what the brief was built on.
"""
NEAREST_WORDS = 150
"""The words of the nearest passages where nothing may answer."""
TOP = 10
"""The best statements, by whose passages the language of what was found is told."""
KEPT = 3
"""A finding keeps so many times what the report has room for: readers ask for more."""


@dataclass(slots=True)
class SearchState:
    """What a search has found so far."""

    question: str
    passages: dict[str, Passage] = field(default_factory=dict)
    by_worth: list[RankedUnit] = field(default_factory=list)
    nearest: float = 1.0
    best_rating: float | None = None
    missing: Sequence[str] = ()

    @property
    def is_weak(self) -> bool:
        """Whether nothing that was found may answer."""
        if self.best_rating is None:
            return self.nearest < WEAK
        return self.best_rating < SURE and self.nearest < (WEAK_IF_RATED_LOW if self.best_rating < LOW else WEAK)

    @property
    def is_in_other_language(self) -> bool:
        """Whether most of the best that was found is in another language than the question."""
        texts = [each.unit.passage.text for each in self.list_ranked()[:TOP]]
        return 2 * sum(is_in_other_language(self.question, [text]) for text in texts) > len(texts)

    def list_ranked(self) -> list[RankedUnit]:
        """List the units, best first: by worth, and by the authors and the years that the question names."""
        preferred = prefer_authors(self.by_worth, self.question)
        years = find_years(self.question)
        return prefer_years(preferred, years) if years else preferred

    def add_passages(self, found: Sequence[Passage], worth: float) -> None:
        """Add passages that are new, their scores times `worth`."""
        for passage in found:
            self.passages.setdefault(passage.key, passage.model_copy(update={"score": passage.score * worth}))


async def search_deeply(subtask: Subtask, plan: ResearchPlan, query: ResearchQuery, kit: Kit) -> Finding:
    """Search on one part of the question, and return the sentences that serve it best as quotes."""
    searches, state = Searches(path_of_search(subtask.id), kit), SearchState(subtask.question)
    stop = StopReason.SUFFICIENT
    try:
        await _search_twice(searches, state)
        await _rate(searches, state)
    except BudgetSpent as spent:
        stop = spent.reason
    with suppress(BudgetSpent):
        state.missing = await searches.find_missing(_list_rarest(subtask.question))
    ranked = state.list_ranked()
    if state.is_weak or state.is_in_other_language:
        chosen = choose_units(ranked, NEAREST_WORDS)
    else:
        chosen = add_further(choose_units(ranked, KEPT * kit.bounds.section_words), ranked)
    return _make_finding(subtask, searches, state, _put_best_first(chosen, ranked), stop, query)


async def find_quotes(question: str, found: Sequence[Passage], agent: str, kit: Kit) -> tuple[Quote, ...]:
    """Find quotations as `find_units` does units."""
    return tuple(unit.to_quote() for unit in await find_units(question, found, agent, kit))


async def find_units(question: str, found: Sequence[Passage], agent: str, kit: Kit) -> Sequence[Unit]:
    """Find the sentences that serve a question best, for an agent that `found` these passages and whose model quoted none.

    The question itself is searched too: the searches of a model that fails may be beside the point. Only words and the scores of
    passages decide, so that a model with a bad hour costs little. What the budget forbids is left out. There are none where
    nothing replaces what a model fails to do.
    """
    if not kit.bounds.replace_failed:
        return ()
    searches, state = Searches(agent, kit), SearchState(question)
    with suppress(BudgetSpent):
        state.add_passages(await searches.find_passages(question, PASSAGES_OF_OTHERS), 1.0)
    state.add_passages(found, SECOND)
    _rank_by_words(state)
    return [each.unit for each in choose_units(state.list_ranked(), kit.bounds.section_words)]


def _list_rarest(question: str) -> list[str]:
    """List the words of a question that say something, the rarest first. The script of Chinese shows no words."""
    words = [word for word in dict.fromkeys(_WORD.findall(drop_small_words(question))) if stem_word(word.lower())]
    return sorted(words, key=lambda word: -load_rarity().weight_of(stem_word(word.lower())))


async def _search_twice(searches: Searches, state: SearchState) -> None:
    state.add_passages(await searches.find_passages(state.question, PASSAGES), 1.0)
    if await _rank(searches, state):
        leads = " ".join(each.unit.text for each in state.list_ranked()[:LEADS])
        state.add_passages(await searches.find_passages(f"{state.question} {leads}", PASSAGES), SECOND)
        await _rank(searches, state)


async def _rank(searches: Searches, state: SearchState) -> bool:
    """Rank the units of all passages; say whether their meanings could be compared."""
    asked, units = _rank_by_words(state)
    meanings = await _compare(searches, state)
    if meanings is not None:
        state.by_worth = rank_units(asked, [unit for unit in units if unit.in_context in meanings.units], meanings)
        state.nearest = max(meanings.passages.values())
    return meanings is not None


def _rank_by_words(state: SearchState) -> tuple[str, list[Unit]]:
    """Rank the units of all passages by words; return what is asked of them, and the units."""
    units = leave_out_other_entries(state.question, split_passages(state.passages.values()))
    asked = strip_sources(state.question, units)
    state.by_worth = rank_units(asked, units)
    return asked, units


async def _rate(searches: Searches, state: SearchState) -> None:
    """Rank anew by how well the best units and passages answer, where a model can tell."""
    units, passages = list_rated(state.list_ranked())
    rated = await searches.rate(state.question, [*units, *passages.values()])
    if rated:
        ratings = Ratings(dict(zip(units, rated, strict=False)), dict(zip(passages, rated[len(units) :], strict=True)))
        state.by_worth, state.best_rating = add_ratings(state.by_worth, ratings), max(rated)


async def _compare(searches: Searches, state: SearchState) -> Meanings | None:
    """Compare all passages and their units with the question; None where nothing can."""
    wholes = {key: title_and_text(passage) for key, passage in state.passages.items()}
    units = list(dict.fromkeys(each.unit.in_context for each in state.by_worth))[: MOST_COMPARED - len(wholes)]
    cosines = await searches.compare(state.question, [*wholes.values(), *units])
    if not cosines:
        return None
    return Meanings(dict(zip(units, cosines[len(wholes) :], strict=True)), dict(zip(wholes, cosines, strict=False)))


def _make_finding(
    subtask: Subtask, searches: Searches, state: SearchState, chosen: Sequence[RankedUnit], stop: StopReason, query: ResearchQuery
) -> Finding:
    quotes = tuple(each.unit.to_quote() for each in chosen)
    words = tell("and", query.language).join(f"“{word}”" for word in state.missing)
    is_foreign = state.is_in_other_language
    told = {"missing": bool(words) and not is_foreign, "weak": state.is_weak, "other_language": is_foreign}
    warned = [tell(what, query.language, question=subtask.title, words=words) for what, is_so in told.items() if is_so and quotes]
    sources = len({quote.source.url for quote in quotes})
    return Finding(
        subtask_id=subtask.id,
        answer=" ".join(f"“{' '.join(quote.text.split())}” {marker_of(quote)}" for quote in quotes[:3]),
        quotes=quotes,
        relevance=_list_relevance(chosen),
        forms=tuple(each.unit.form for each in chosen),
        gaps=(*warned, *searches.errors),
        stop=_find_stop(stop, searches, quotes),
        detail="; ".join(searches.errors)
        or tell("found", query.language, passages=len(state.passages), quotes=len(quotes), sources=sources),
        turns=searches.calls,
        usage=searches.usage,
    )


def _put_best_first(chosen: Sequence[RankedUnit], ranked: Sequence[RankedUnit]) -> list[RankedUnit]:
    """Put the best-rated statement before all else, also before what belongs to it."""
    places = {each.unit.place for each in chosen}
    stated = [each for each in ranked if each.unit.place in places and each.unit.kind is not FormKind.HEADING]
    best = max(stated, key=lambda each: each.rating).unit.place if stated else None
    return sorted(chosen, key=lambda each: each.unit.place != best)


def _list_relevance(chosen: Sequence[RankedUnit]) -> tuple[float, ...]:
    """Return the scores of what was chosen; 0 where the rating falls off far below the best."""
    least = FALL * max((each.rating for each in chosen), default=0.0)
    return tuple(round(each.score, 6) if each.rating >= least else 0.0 for each in chosen)


def _find_stop(stop: StopReason, searches: Searches, quotes: Sequence[Quote]) -> StopReason:
    """Return why a search ended: one whose tools failed has not shown that there is nothing."""
    if quotes or stop is not StopReason.SUFFICIENT:
        return stop
    return StopReason.FAILED if searches.errors else StopReason.NO_EVIDENCE
