"""Describe an estimate of a run, and its scorecard, in lines for a terminal."""

from app.domain.options import SourceKind
from app.domain.query import ResearchQuery
from app.domain.scorecard import PASSES_FROM
from infra.cli.progress import as_one_line, count_nouns
from rubrica_client.models import CriterionScore, Estimate, Interval, Scorecard

WIDTH = 46
FEW = 5
"""With fewer runs like it, an estimate rests on general experience for the most part."""


def describe_scorecard(card: Scorecard) -> str:
    """Return a scorecard in lines."""
    whole = "-" if card.overall is None else f"{card.overall:.2f}"
    lines = [f"scorecard: {whole} ({card.judged} of {len(card.items)} criteria judged)"]
    lines += [_describe_score(item) for item in card.items]
    return "\n".join(lines)


def _describe_score(item: CriterionScore) -> str:
    fault = item.criterion.weight < 0
    score = "-" if item.score is None else f"{item.score:.2f}"
    if fault and item.score is not None:
        score = "found" if item.score >= PASSES_FROM else "not found"
    mark = "fault " if fault else ""
    return f"  {score:>9}  {mark}{as_one_line(item.criterion.title)[:WIDTH]}: {as_one_line(item.missing or item.reason)}"


NAMES = {SourceKind.WEB: "the web", SourceKind.SCHOLAR: "papers"}


def describe_searched(query: ResearchQuery) -> str:
    """Return what a run searches, in one line. Of the places outside, only those that the question names."""
    fits = ", which fits the question" if query.suggested else ""
    parts = [f"the collection {as_one_line(name)}{fits}" for name in query.collections]
    parts += ["the default corpus"] if query.searches_corpora else []
    parts += [NAMES[kind] for kind in (query.scope.sources if query.scope else ()) if kind in NAMES]
    return f"searches: {'; '.join(parts)}"


def describe_estimate(estimate: Estimate) -> str:
    """Return an estimate in one line."""
    seconds = f"{_format_range(estimate.seconds)} s"
    spent = f", {_format_range(estimate.tokens)} tokens" if estimate.model else ""
    cost = estimate.cost_microusd
    money = f", US$ {cost.low / 1e6:.2f} to {cost.high / 1e6:.2f}" if estimate.model and cost else ""
    alike = f"{count_nouns(estimate.runs, 'run')} like it"
    few = (
        f"mostly general experience; {alike} so far" if estimate.runs else "general experience; no run like it has ended here yet"
    )
    rests = f"from {alike}" if estimate.runs >= FEW else few
    warning = "" if estimate.within_budget else "; it may reach its budget"
    return f"this will probably take {seconds}{spent}{money} ({rests}){warning}"


def _format_range(interval: Interval) -> str:
    return f"{interval.low:,} to {interval.high:,}"
