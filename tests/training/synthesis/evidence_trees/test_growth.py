"""What stands in a tree: limits, facets, repetitions, statements; and where seed topics come from."""

import json
from typing import Any

import pytest

from app.domain.chat import ChatRequest
from app.domain.query import Language
from bench.synthesis_stub.trees import TreeStub
from tests.training.synthesis.evidence_trees.forest import SMALL, Model, change_step, plant_forest
from tests.workflows.agent_kit import step_of
from training.synthesis.evidence_trees.row import TreeRow
from training.synthesis.evidence_trees.topics import OTHER, draw_topics, find_themes, name_category
from training.synthesis.evidence_trees.tree import FallReason, LeafReason
from training.synthesis.source_corpus import SourceCorpus
from workflows.chat_models.scripted import ScriptedAnswer


async def make_row(corpus: SourceCorpus, writer: Model) -> TreeRow:
    worked = await plant_forest(corpus, writer).make(1, Language.ENGLISH)
    return next(TreeRow.model_validate(one.kept.data) for one in worked if one.kept)


async def test_branches_narrow_with_depth(corpus: SourceCorpus) -> None:
    tree = (await make_row(corpus, TreeStub("crowded_children"))).tree
    children = {node.id: [child for child in tree.nodes if child.parent == node.id] for node in tree.nodes}
    most = {0: 6, 1: 4, 2: 3, 3: 0}
    assert all(len(children[node.id]) <= most[node.depth] for node in tree.nodes)
    assert all(len(children[node.id]) != 1 for node in tree.nodes)
    assert {one.reason for one in tree.fallen} >= {FallReason.OVER_LIMIT}


async def test_a_leaf_says_why_it_is_one(corpus: SourceCorpus) -> None:
    def gate(answer: dict[str, list[str]]) -> dict[str, list[str]]:
        return answer if len(answer["passing"]) == 6 else {"passing": answer["passing"][:1]}

    tree = (await make_row(corpus, change_step("tree_gate", gate, TreeStub()))).tree
    assert {leaf.leaf for leaf in tree.leaves} <= {LeafReason.GATED, LeafReason.ATOMIC}
    assert {one.reason for one in tree.fallen} >= {FallReason.GATED}


async def test_a_missing_facet_is_asked_for_again(corpus: SourceCorpus) -> None:
    forgetful = TreeStub("missing_facet", widest=2)

    def model(request: ChatRequest) -> ScriptedAnswer:
        return forgetful(request) if len(request.messages) == 2 else SMALL(request)

    forest = plant_forest(corpus, model)
    worked = await forest.make(1, Language.ENGLISH)
    assert any(one.kept for one in worked)
    again = [one for one in forest.writer.requests if step_of(one) == "tree_expansion" and len(one.messages) > 2]
    assert all("risks" in (one.messages[-1].content or "") for one in again)
    assert again


async def test_statements_are_the_passages_own_words(corpus: SourceCorpus) -> None:
    def reword(answer: dict[str, list[dict[str, list[str]]]]) -> dict[str, list[dict[str, list[str]]]]:
        first, *others = answer["passages"] or [{}]
        if not first:
            return answer
        shouted = [statement.upper() for statement in first["statements"]]
        return {"passages": [first | {"statements": [*shouted, "The mayor burned all records of that year."]}, *others]}

    row = await make_row(corpus, change_step("tree_grounding", reword))
    sources = {document.source.url: document.source for document in corpus.list_documents()}
    for node in row.tree.nodes:
        for passage in node.passages:
            text = corpus.read_text(sources[passage.address])
            assert all(text[said.start : said.end] == said.text for said in passage.statements)
    assert row.tree.lost_statements > 0
    assert "mayor" not in json.dumps([node.model_dump() for node in row.tree.nodes])


async def test_a_passage_that_is_named_by_its_title_is_the_one_with_the_statements(corpus: SourceCorpus) -> None:
    def name_title(answer: dict[str, list[dict[str, list[str]]]]) -> dict[str, list[dict[str, str | list[str]]]]:
        return {"passages": [one | {"passage": "Some canal"} for one in answer["passages"]]}

    titled = (await make_row(corpus, change_step("tree_grounding", name_title))).tree
    assert titled.nodes == (await make_row(corpus, SMALL)).tree.nodes


@pytest.mark.parametrize("language", Language)
def test_topics_are_the_documents_of_a_language_in_a_fixed_order(corpus: SourceCorpus, language: Language) -> None:
    topics = draw_topics(corpus, 1, language)
    assert topics == draw_topics(corpus, 1, language)
    assert {topic.language for topic in topics} == {language}
    assert len(topics) == (5 if language is Language.ENGLISH else 3)


def test_a_category_is_the_word_that_an_opening_says_over_and_over() -> None:
    films = [{"film": 4, "also": 1, "actor": 1}, {"film": 3, "also": 1}, {"film": 5, "also": 1}]
    rivers = [{"river": 4, "also": 1}, {"river": 3, "also": 1, "film": 1}]
    others = [{"also": 3, "name": 1}, {"also": 3}, *({"also": 1} for _ in range(60))]
    themes = find_themes([*films, *rivers, *others])
    assert themes == ("film", "river")
    assert [name_category(one, themes) for one in (films[0], rivers[1], others[0])] == ["film", "river", OTHER]


async def test_the_gate_is_not_asked_about_fewer_than_two_children(corpus: SourceCorpus) -> None:
    def repeat(answer: dict[str, Any]) -> dict[str, Any]:
        return dict.fromkeys(("comparison", "risks", "quantities"), answer["quantities"]) | {"others": []}

    forest = plant_forest(corpus, change_step("tree_expansion", repeat))
    worked = await forest.make(1, Language.ENGLISH)
    assert not [one for one in forest.writer.requests if step_of(one) == "tree_gate"]
    assert {one.refused.reason for one in worked if one.refused} == {"the root has no children: atomic"}
    reasons = {child["reason"] for one in worked if one.refused for child in one.refused.data["fallen"]}
    assert reasons == {FallReason.REPEATS, FallReason.ALONE}


async def test_a_passage_that_is_chosen_twice_keeps_all_its_statements(corpus: SourceCorpus) -> None:
    def split(answer: dict[str, Any]) -> dict[str, Any]:
        return {"passages": [one | {"statements": [said]} for one in answer["passages"][:2] for said in one["statements"]]}

    def leave_two(answer: dict[str, Any]) -> dict[str, Any]:
        return {"passages": answer["passages"][:2]}

    once, twice = [(await make_row(corpus, change_step("tree_grounding", change))).tree for change in (leave_two, split)]
    assert once.nodes == twice.nodes
    assert any(len(passage.statements) > 1 for node in once.nodes for passage in node.passages)
