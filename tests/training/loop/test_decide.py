"""What a gate decides: proofs, alarms, probes, leaks, and what a refusal shows."""

from typing import Any

import pytest

from tests.training.loop.gate_folder import GOOD, make_plan, make_rows
from training.loop.gates.decide import GateDecision, decide_gate
from training.loop.gates.held_out import TrainedText
from training.loop.gates.rows import GateRow, GateVerdict
from training.loop.gates.scores import ItemScore


def decide(rows: list[dict[str, Any]], trained: list[TrainedText] | None = None, **changed: Any) -> GateDecision:
    return decide_gate(make_plan(**changed), [ItemScore.model_validate(row) for row in rows], trained)


def row_of(decision: GateDecision, metric: str) -> GateRow:
    (found,) = [row for row in decision.rows if row.metric == metric]
    return found


def test_a_candidate_that_shows_all_passes() -> None:
    found = decide(make_rows(GOOD))
    assert (found.verdict, found.reasons, found.worst, found.leaks) == (GateVerdict.PASSED, (), (), None)
    quality = row_of(found, "report_quality")
    assert quality.queries == 120
    assert quality.difference == pytest.approx(0.06)
    assert (quality.before, quality.after) == pytest.approx((0.5, 0.56))
    assert quality.low is not None
    assert quality.high is not None
    assert 0 < quality.low < 0.06 < quality.high < 0.07


@pytest.mark.parametrize(
    ("metric", "change"),
    [
        ("report_quality", -0.01),
        ("preference_accuracy", -0.03),
        ("citation_support", -0.04),
        ("cost", 0.08),
        ("probe/padded", 0.05),
    ],
)
def test_one_proof_that_fails_refuses(metric: str, change: float) -> None:
    """The cost before is a half: .08 more is 16%."""
    found = decide(make_rows(GOOD | {metric: change}))
    assert found.verdict is GateVerdict.REFUSED
    assert [row.metric for row in found.rows if row.verdict is not GateVerdict.PASSED] == [metric]
    assert row_of(found, metric).difference == pytest.approx(change / 0.5 if metric == "cost" else change)
    (reason,) = found.reasons
    assert reason in (
        f"{metric} (superiority): the opposite is shown",
        f"{metric} (non-inferiority, margin 0.02): the opposite is shown",
        f"{metric} (non-inferiority, margin 10.0%): the opposite is shown",
        f"{metric} (no gain of a probe, margin 0.02): the opposite is shown",
    )


def test_cheaper_and_probes_that_lose_pass() -> None:
    assert decide(make_rows(GOOD | {"cost": -0.2, "probe/padded": -0.3})).verdict is GateVerdict.PASSED


def test_a_refusal_shows_its_ten_worst_items() -> None:
    found = decide(make_rows(GOOD | {"cost": 0.2}))
    (worst,) = found.worst
    assert worst.metric == "cost"
    assert [item.after_text for item in worst.items] == [f"new-{119 - n // 2}-{n % 2}" for n in range(10)]
    assert worst.items[0].after == pytest.approx(0.73)


def test_too_few_items_are_not_known_and_the_table_says_how_many_more() -> None:
    few = decide(make_rows(GOOD, queries=12))
    assert few.verdict is GateVerdict.NOT_KNOWN
    assert row_of(few, "cost").reason == "8 more queries are needed to tell anything"
    noisy = decide(make_rows(GOOD, queries=100, spread=0.25))
    row = row_of(noisy, "search_accuracy")
    assert row.verdict is GateVerdict.NOT_KNOWN
    # (z(.95) + z(1 - .2 / 12))^2 x (spread / margin)^2, with the spread of an even distribution.
    assert row.queries_needed == pytest.approx((1.645 + 2.128) ** 2 * (0.25 / 3**0.5 / 0.02) ** 2, rel=0.04)
    assert row.reason == f"{(row.queries_needed or 0) - 100} more queries are needed"


def test_what_as_many_queries_as_it_takes_do_not_show_is_refused() -> None:
    found = decide(make_rows(GOOD | {"citation_support": -0.0195}, queries=400, spread=0.05))
    assert row_of(found, "citation_support").reason == "not shown, with as many queries as it takes"
    assert found.verdict is GateVerdict.REFUSED


def test_what_changes_nowhere_takes_as_many_queries_as_the_rule_of_three_says() -> None:
    same = {metric: 0.0 for metric in GOOD if metric != "report_quality"}
    quality = {"report_quality": 0.06}

    def search(queries: int) -> GateRow:
        rows = make_rows(quality, queries=queries) + make_rows(same, queries=queries, spread=0.0)
        return row_of(decide(rows), "search_accuracy")

    assert (search(148).verdict, search(148).reason) == (GateVerdict.NOT_KNOWN, "1 more queries are needed")
    assert search(149).verdict is GateVerdict.PASSED


def test_a_proof_without_scores_is_not_known() -> None:
    found = decide(make_rows({metric: change for metric, change in GOOD.items() if metric != "probe/padded"}))
    assert found.verdict is GateVerdict.NOT_KNOWN
    assert found.reasons == ("probe/padded (no gain of a probe, margin 0.02): 20 more queries are needed to tell anything",)


def test_a_score_that_could_not_be_had_is_not_known() -> None:
    rows = make_rows(GOOD)
    rows[0]["after"] = None
    assert decide(rows).reasons == ("report_quality (superiority): 1 items have no score",)


def test_an_alarm_refuses_only_where_harm_is_shown() -> None:
    calm = decide(make_rows(GOOD | {"fluency": -0.001}))
    assert (row_of(calm, "fluency").kind, row_of(calm, "fluency").reason) == ("alarm", "no harm shown")
    raised = decide(make_rows(GOOD | {"fluency": -0.02, "words": 0.5}))
    assert [row.metric for row in raised.rows if row.verdict is GateVerdict.REFUSED] == ["fluency"]
    assert decide(make_rows(GOOD | {"words": 0.5}), lower_is_better=["words"]).reasons == ("words (alarm): harm is shown",)
    silent = decide(make_rows(GOOD) + make_rows({"fluency": -0.4}, queries=5))
    assert silent.verdict is GateVerdict.PASSED


def test_items_that_were_trained_on_refuse_the_gate() -> None:
    by_id = decide(make_rows(GOOD), [TrainedText(id="q7"), TrainedText(id="other")])
    assert by_id.verdict is GateVerdict.REFUSED
    assert by_id.reasons == ("1 held-out items or queries are in the training set",)
    assert by_id.leaks is not None
    assert by_id.leaks[0].held_out == "q7"


def test_near_copies_that_were_trained_on_refuse_the_gate() -> None:
    rows = make_rows(GOOD)
    rows[0]["text"] = "How did the tariff of 1890 change the price of imported wool in New England mills?"
    strange = [
        TrainedText(id=f"t{n}", text=f"What did president number {n} say about the navy and its ships?") for n in range(30)
    ]
    copy = TrainedText(id="copy", text="How did the tariff of 1890 change prices of imported wool in the mills of New England?")
    assert decide(rows, strange).verdict is GateVerdict.PASSED
    (leak,) = decide(rows, [*strange, copy]).leaks or ()
    assert (leak.held_out, leak.trained_on) == ("q0", "copy")
    assert 0.5 < leak.likeness < 1
