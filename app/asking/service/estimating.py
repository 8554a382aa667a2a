"""Estimate a run from quantiles of similar runs, drawn towards general experience while there are few of them.

A quantile of n runs counts n times, the general one counts as `EXPERIENCE` runs, both as logarithms: consumption varies by
factors.
"""

import math
from collections.abc import Sequence

from app.asking.nouns import Estimate, Interval
from app.asking.storage.history import RunConsumption
from app.domain.budget import Budget
from app.domain.options import Length
from app.domain.pricing import PricedModel
from app.domain.query import Effort, ResearchQuery, SystemName

EXPERIENCE = 5
LOW, MIDDLE, HIGH = 0.1, 0.5, 0.9
SPREAD = 2.5
INPUT_SHARE = 0.88
# A second round has up to half as many subtasks again, and searching is about half of a run.
SECOND_ROUND_FACTOR = 1.25
RUBRIC_FACTOR = 1.35
LENGTH_FACTOR = {Length.SHORT: 0.85, Length.MEDIUM: 1.0, Length.LONG: 1.2}
# Medians of runs on the default corpus: tokens and seconds with a model, seconds without one.
TOKENS = {Effort.QUICK: 60_000, Effort.STANDARD: 200_000, Effort.DEEP: 600_000}
# What a model takes to judge the claims of a report: one request for each section.
JUDGE_TOKENS = {Effort.QUICK: 10_000, Effort.STANDARD: 22_000, Effort.DEEP: 40_000}
SECONDS = {Effort.QUICK: 60, Effort.STANDARD: 180, Effort.DEEP: 480}
SECONDS_WITHOUT_MODEL = {Effort.QUICK: 3, Effort.STANDARD: 6, Effort.DEEP: 10}


def estimate_run(query: ResearchQuery, model: PricedModel | None, history: Sequence[RunConsumption]) -> Estimate:
    """Estimate a run of this query with this model (None: without one); `history` are similar runs."""
    factor = (RUBRIC_FACTOR if query.rubric else 1.0) * LENGTH_FACTOR[(query.style and query.style.length) or Length.MEDIUM]
    if model and query.system is SystemName.MINDDR:
        factor *= SECOND_ROUND_FACTOR
    usual_tokens = TOKENS[query.effort] * factor + (JUDGE_TOKENS[query.effort] if model and model.judges else 0)
    tokens = _interval_of([run.tokens for run in history], usual_tokens if model else 0)
    usual = (SECONDS if model else SECONDS_WITHOUT_MODEL)[query.effort]
    seconds = _interval_of([run.seconds for run in history], usual * (factor if model else 1.0))
    cost = _cost_of(tokens, model)
    return Estimate(
        tokens=tokens,
        cost_microusd=cost,
        seconds=seconds,
        runs=len(history),
        model=model.name if model else "",
        within_budget=_is_within(query.budget, tokens, cost, seconds),
    )


def combine_estimates(estimates: Sequence[Estimate]) -> Estimate:
    """Estimate runs that work at once: tokens and money of all, the time of the slowest.

    Low ends are added to low ends and high ends to high ends: systems on one question and the same evidence
    consume alike. The cap holds for each run by itself.
    """
    first = estimates[0]
    costs = [each.cost_microusd for each in estimates if each.cost_microusd is not None]
    seconds = [each.seconds for each in estimates]
    return first.model_copy(
        update={
            "tokens": _add_intervals([each.tokens for each in estimates]),
            "cost_microusd": _add_intervals(costs) if len(costs) == len(estimates) else None,
            "seconds": Interval(
                low=max(each.low for each in seconds),
                likely=max(each.likely for each in seconds),
                high=max(each.high for each in seconds),
            ),
            "runs": sum(each.runs for each in estimates),
            "within_budget": all(each.within_budget for each in estimates),
        }
    )


def _add_intervals(intervals: Sequence[Interval]) -> Interval:
    return Interval(
        low=sum(each.low for each in intervals),
        likely=sum(each.likely for each in intervals),
        high=sum(each.high for each in intervals),
    )


def _interval_of(values: Sequence[float], general: float) -> Interval:
    usual = (general / SPREAD, general, general * SPREAD)
    drawn = [_draw_quantile(values, share, prior) for share, prior in zip((LOW, MIDDLE, HIGH), usual, strict=True)]
    low, likely, high = sorted(max(0, round(value)) for value in drawn)
    return Interval(low=low, likely=likely, high=high)


def _draw_quantile(values: Sequence[float], share: float, general: float) -> float:
    """Return a quantile of the values, drawn towards the general one."""
    if not values:
        return general
    own = math.log1p(_quantile_of(sorted(values), share))
    weight = len(values) / (len(values) + EXPERIENCE)
    return math.expm1(weight * own + (1 - weight) * math.log1p(general))


def _quantile_of(ordered: Sequence[float], share: float) -> float:
    """Return the quantile by linear interpolation between its two neighbours."""
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def _cost_of(tokens: Interval, model: PricedModel | None) -> Interval | None:
    """Return the cost by today's prices: zero without a model, None where it has no price.

    US$ per million tokens equal millionths of a US dollar per token; most tokens of a run are input.
    """
    if model is None:
        return Interval(low=0, likely=0, high=0)
    per_token = INPUT_SHARE * float(model.input_price) + (1 - INPUT_SHARE) * float(model.output_price)
    if not per_token:
        return None
    low, likely, high = (round(count * per_token) for count in (tokens.low, tokens.likely, tokens.high))
    return Interval(low=low, likely=likely, high=high)


def _is_within(budget: Budget, tokens: Interval, cost: Interval | None, seconds: Interval) -> bool:
    caps = (
        (budget.max_tokens, tokens.high),
        (budget.max_cost_microusd, cost.high if cost else 0),
        (budget.max_seconds, seconds.high),
    )
    return all(cap is None or high <= cap for cap, high in caps)
