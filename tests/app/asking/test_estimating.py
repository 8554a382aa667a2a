"""Estimates by hand."""

from decimal import Decimal

from app.asking.service.estimating import EXPERIENCE, estimate_run
from app.asking.storage.history import RunConsumption
from app.domain.budget import Budget
from app.domain.pricing import PricedModel
from app.domain.query import Effort, ResearchQuery, SystemName

QUERY = ResearchQuery(question="Why?")
MODEL = PricedModel("m", Decimal(1), Decimal(2))
USUAL = 250_000
"""Tokens of a run at standard effort with a second round of searches."""


def runs(*tokens: int) -> list[RunConsumption]:
    return [RunConsumption(n, n, float(n)) for n in tokens]


def test_without_history_it_is_experience_and_wide() -> None:
    found = estimate_run(QUERY, MODEL, [])
    assert (found.runs, found.tokens.likely, found.seconds.likely) == (0, USUAL, 225)
    assert (found.tokens.low, found.tokens.high) == (100_000, 625_000)
    assert found.cost_microusd is not None
    assert found.cost_microusd.likely == round(USUAL * (0.88 + 0.24))


def test_history_takes_over_as_it_grows() -> None:
    likely = [estimate_run(QUERY, MODEL, runs(*[20_000] * n)).tokens.likely for n in (0, 1, EXPERIENCE, 200)]
    assert likely == sorted(likely, reverse=True)
    assert abs(likely[2] - (20_000 * USUAL) ** 0.5) < 10, "as many runs as experience counts for: the geometric mean"
    assert 20_000 < likely[3] < 22_000
    spread = estimate_run(QUERY, MODEL, runs(*range(10_000, 1_010_000, 10_000))).tokens
    assert spread.low < 150_000 < spread.likely < 510_000 < spread.high


def test_no_model_no_price_and_caps() -> None:
    assert estimate_run(QUERY, None, []).tokens.high == 0
    assert estimate_run(QUERY, PricedModel("free", Decimal(0), Decimal(0)), []).cost_microusd is None
    assert estimate_run(QUERY, None, runs(0, 0, 0)).tokens.high == 0
    capped = ResearchQuery(question="Why?", budget=Budget(max_tokens=400_000))
    assert not estimate_run(capped, MODEL, []).within_budget
    assert estimate_run(capped, None, []).within_budget
    assert estimate_run(ResearchQuery(question="Why?", rubric=True), MODEL, []).tokens.likely > USUAL


def test_a_model_that_judges_claims_takes_more() -> None:
    alone, judging = (estimate_run(QUERY, MODEL._replace(judges=judges), []) for judges in (False, True))
    assert judging.tokens.likely > alone.tokens.likely
    assert judging.cost_microusd is not None
    assert alone.cost_microusd is not None
    assert judging.cost_microusd.likely > alone.cost_microusd.likely


def test_a_second_round_is_counted_where_there_may_be_one() -> None:
    alike = [
        estimate_run(ResearchQuery(question="Why?", effort=effort, system=system), MODEL, []).tokens.likely
        for effort, system in (
            (Effort.QUICK, SystemName.MINDDR),
            (Effort.STANDARD, SystemName.REACT),
            (Effort.DEEP, SystemName.MINDDR),
        )
    ]
    assert alike == [75_000, 200_000, 750_000]
