"""Models that break one rule: each is caught where the rule is checked, with a reason, and no row that breaks it is kept."""

from collections.abc import Callable
from typing import Any

import pytest

from app.domain.errors import ModelRefused
from app.domain.query import Language
from bench.synthesis_stub.tree_plants import PLANTS, is_caught
from bench.synthesis_stub.trees import TreeStub
from tests.training.synthesis.evidence_trees.forest import change_step, plant_forest
from training.synthesis.source_corpus import SourceCorpus

Answer = dict[str, Any]


@pytest.mark.parametrize("plant", PLANTS)
async def test_a_planted_violation_is_caught(corpus: SourceCorpus, plant: str) -> None:
    stub = TreeStub(plant, widest=2)
    forest = plant_forest(corpus, stub, stub)
    worked = await forest.make(1, Language.ENGLISH)
    assert any(is_caught(plant, one.model_dump(mode="json")) for one in worked)
    assert forest.check(worked) == []


def state_what_no_passage_says(answer: Answer) -> Answer:
    return {"passages": [one | {"passage": "p99", "statements": ["The mayor burned all records."]} for one in answer["passages"]]}


def end_elsewhere(answer: Answer) -> Answer:
    return answer | {"question": answer["question"] + " And why?"}


def give_no_reasons(answer: Answer) -> Answer:
    return answer | {"merges": [one | {"reason": " "} for one in answer["merges"]]}


def give_four_criteria(answer: Answer) -> Answer:
    return answer | {"criteria": answer["criteria"][:4]}


def forget_weights(answer: Answer) -> Answer:
    return answer | {"criteria": [{k: v for k, v in one.items() if k != "weight"} for one in answer["criteria"]]}


def select_inner_node(answer: Answer) -> Answer:
    first, *others = answer["selected"]
    return answer | {"selected": [first | {"leaf": "0"}, *others]}


@pytest.mark.parametrize(
    ("step", "change", "stage", "reason"),
    [
        ("tree_root", lambda _: {"question": ""}, "topic", "no research"),
        ("tree_root", lambda _: ModelRefused("no"), "topic", "no"),
        ("tree_expansion", lambda _: {"comparison": "", "others": []}, "growth", "atomic"),
        ("tree_gate", lambda _: {"passing": ["1"]}, "growth", "gated"),
        ("tree_grounding", state_what_no_passage_says, "topic", "no passage"),
        ("tree_merge", end_elsewhere, "checks", "ends_in_query"),
        ("tree_merge", give_no_reasons, "checks", "gives_reasons"),
        ("tree_merge", select_inner_node, "checks", "selects_leaves"),
        ("tree_merge", give_four_criteria, "merge", "at least 5"),
        ("tree_merge", forget_weights, "merge", "weight"),
    ],
)
async def test_a_topic_falls_out_at_its_stage(
    corpus: SourceCorpus, step: str, change: Callable[[Answer], Any], stage: str, reason: str
) -> None:
    worked = await plant_forest(corpus, change_step(step, change)).make(1, Language.ENGLISH)
    assert not any(one.kept for one in worked)
    assert {one.refused.stage for one in worked if one.refused} == {stage}
    assert all(reason in one.refused.reason for one in worked if one.refused)


@pytest.mark.parametrize(
    ("change", "stage", "reason"),
    [
        (lambda told: told | {"decision": "drop", "justification": "broken"}, "verification", "dropped: broken"),
        (lambda told: told | {"decision": "maybe"}, "verification", "cannot be used"),
        (lambda _: ModelRefused("no"), "verification", "no"),
        (
            lambda told: told | {"decision": "revise", "criteria": [one | {"weight": -1} for one in told["criteria"]]},
            "verification",
            "its weight is negative",
        ),
        (
            lambda told: (
                told
                | {"decision": "revise", "question": " ".join(one["description"] for one in told["criteria"]) or told["question"]}
            ),
            "revision",
            "hides_rubric",
        ),
    ],
)
async def test_a_verifier_that_breaks_a_rule_costs_the_row(
    corpus: SourceCorpus, change: Callable[[Answer], Any], stage: str, reason: str
) -> None:
    worked = await plant_forest(corpus, verifier=change_step("rubric_verification", change)).make(2, Language.ENGLISH)
    caught = [one.refused for one in worked if one.refused and one.refused.stage == stage and reason in one.refused.reason]
    assert caught
    assert not any(one.kept for one in worked)
    assert all("pair" in one.data for one in caught)
