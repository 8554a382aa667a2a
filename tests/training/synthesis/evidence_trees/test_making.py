"""Making evidence trees with models that obey, over a real index."""

import pytest

from app.domain.chat import ChatRequest
from app.domain.errors import ModelUnavailable
from app.domain.evidence_rubric import Variant
from app.domain.query import Language
from bench.synthesis_stub.trees import TreeStub
from tests.training.synthesis.evidence_trees.forest import SMALL, Forest, plant_forest
from tests.workflows.agent_kit import step_of
from training.synthesis.evidence_trees.row import TreeRow
from training.synthesis.evidence_trees.statistics import count_cost, count_figures, count_table_6, count_table_7, count_trees
from training.synthesis.evidence_trees.topics import draw_topics
from training.synthesis.evidence_trees.tree import MANDATORY
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.outcome import WorkedCandidate
from workflows.systems.linear_pipeline import Window


def rows_of(worked: list[WorkedCandidate]) -> list[TreeRow]:
    return [TreeRow.model_validate(one.kept.data) for one in worked if one.kept]


@pytest.mark.parametrize("language", Language)
async def test_topics_become_rows_that_an_independent_checker_finds_sound(corpus: SourceCorpus, language: Language) -> None:
    forest = plant_forest(corpus, TreeStub())
    worked = await forest.make(language=language)
    rows = rows_of(worked)
    assert rows
    assert forest.check(worked) == []
    assert {one.kept.language for one in worked if one.kept} == {language}
    for row in rows:
        assert max(node.depth for node in row.tree.nodes) == 3
        assert {child.facet for child in row.tree.nodes if child.parent == "0"} >= set(MANDATORY)
        assert all(criterion.grounded for criterion in row.rubric.criteria if criterion.type == "factual")
    assert all(one.kept.documents[0].startswith("records:canals/") for one in worked if one.kept)


async def test_a_second_model_verifies_and_asks_nothing_else(corpus: SourceCorpus) -> None:
    forest = plant_forest(corpus)
    await forest.make(language=Language.ENGLISH)
    assert {step_of(request) for request in forest.verifier.requests} == {"rubric_verification"}
    assert {step_of(request) for request in forest.writer.requests} == {
        "tree_root",
        "tree_expansion",
        "tree_gate",
        "tree_grounding",
        "tree_merge",
    }


async def test_variants_are_rubrics_for_the_same_query(corpus: SourceCorpus) -> None:
    forest = plant_forest(corpus)
    worked = await forest.make(1, Language.ENGLISH, frozenset({Variant.UNREVISED, Variant.SEARCH, Variant.CLOSED_BOOK}))
    kept = next(one.kept for one in worked if one.kept)
    assert {one.variant for one in rows_of(worked)[0].variants} == {Variant.UNREVISED, Variant.SEARCH, Variant.CLOSED_BOOK}
    asked = [step_of(request) for request in forest.writer.requests if kept.query in (request.messages[-1].content or "")]
    assert sorted(asked) == ["rubric_closed_book", "rubric_searched"]
    assert forest.check(worked) == []


async def test_a_second_run_asks_nothing_and_gives_the_same_bytes(corpus: SourceCorpus) -> None:
    forest = plant_forest(corpus)
    first = await forest.make(2, Language.ENGLISH)
    again = Forest(corpus, plant_forest(corpus).writer, plant_forest(corpus).verifier, record=forest.record)
    second = await again.make(2, Language.ENGLISH)
    assert [one.model_dump_json() for one in second] == [one.model_dump_json() for one in first]
    assert again.writer.requests == []


async def test_how_many_are_under_way_changes_nothing(corpus: SourceCorpus) -> None:
    alone, together = plant_forest(corpus), plant_forest(corpus)
    together.window = Window(4)
    first, second = await alone.make(2), await together.make(2)
    assert [one.model_dump_json() for one in second] == [one.model_dump_json() for one in first]


async def test_another_seed_draws_another_order(corpus: SourceCorpus) -> None:
    orders = {tuple(topic.id for topic in draw_topics(corpus, seed)) for seed in range(5)}
    assert len(orders) > 1
    assert len({frozenset(order) for order in orders}) == 1


async def test_no_topic_falls_out_because_a_model_is_away(corpus: SourceCorpus) -> None:
    asked = 0

    def model(request: ChatRequest) -> str | Exception:
        nonlocal asked
        asked += 1
        return ModelUnavailable("down") if asked == 20 else SMALL(request)

    forest = plant_forest(corpus, model)
    with pytest.raises(ModelUnavailable):
        await forest.make(1, Language.ENGLISH)
    worked = await forest.make(1, Language.ENGLISH)
    expected = await plant_forest(corpus).make(1, Language.ENGLISH)
    assert [one.model_dump_json() for one in worked] == [one.model_dump_json() for one in expected]


async def test_the_numbers_of_a_set_follow_from_its_rows(corpus: SourceCorpus) -> None:
    worked = await plant_forest(corpus).make()
    rows = rows_of(worked)
    table = count_table_6(worked)
    assert table["retained"] == len(rows)
    assert table["generated"] == table["retained"] + sum("audit" in one.refused.data for one in worked if one.refused)
    assert table["criteria_per_example"] == pytest.approx(sum(len(row.rubric.criteria) for row in rows) / len(rows))
    assert table["factual_share"] + table["logical_share"] == pytest.approx(1)
    assert count_trees(worked)["trees"] >= table["generated"]
    assert sum(count_table_7(worked).values()) == pytest.approx(1)
    assert count_figures(worked)["criteria per example (paper: 7.0)"] == table["criteria_per_example"]
    cost = count_cost(worked)
    assert cost["model_calls"] == sum(one.usage.model_calls for one in worked)
    assert cost["usd_9000"] == 0
