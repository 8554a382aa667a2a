"""Graph queries from a small world to checked rows, by a model that obeys and by models that break one rule each."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from bench.synthesis_checker.graph_queries import check_row
from bench.synthesis_stub.graph_queries import NONSENSE, VIOLATIONS, GraphQueryStub
from tests.training.synthesis.graph_queries.small_world import open_queries, open_world, read_texts, work
from training.rewards.entities import Entity, fold_text, is_mentioned
from training.synthesis.graph_queries.row import GraphQueryRow
from training.synthesis.source_corpus import SourceCorpus
from training.synthesis.training_set.outcome import KeptRow

REFUSED_AT = {
    "names_answer": {"question"},
    "names_intermediate": {"question", "obfuscation"},
    "names_part": {"question", "obfuscation"},
    "drops_condition": {"question"},
    "keeps_strong_clue": {"obfuscation"},
    "wrong_year": {"question", "obfuscation"},
    "unsupported_link": {"question"},
    "other_language": {"question"},
    "known_answer": {"closed_book"},
    "request_names_answer": {"request"},
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SourceCorpus]:
    with open_world(tmp_path_factory.mktemp("world")) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


async def rows_of(corpus: SourceCorpus, folder: Path, stub: GraphQueryStub, candidates: int) -> list[KeptRow]:
    queries = open_queries(corpus, folder, stub)
    worked = await work(queries, list(islice(queries.list_candidates(), candidates)))
    return [one.kept for one in worked if one.kept]


async def test_an_obedient_model_makes_rows_in_which_the_checker_finds_nothing(corpus: SourceCorpus, folder: Path) -> None:
    kept = await rows_of(corpus, folder, GraphQueryStub(), 60)
    texts = read_texts(corpus)
    wrong = [
        (row.data["id"], found.violations)
        for row in kept
        if (found := await check_row(row.data, texts, corpus.search)).violations
    ]
    assert not wrong
    assert len(kept) > 20
    assert {row.language for row in kept} == {"en", "zh"}
    assert {row.data["hops"] for row in kept} >= {1, 2, 3}
    assert any(step["kept"] for row in kept for step in row.data["steps"])


async def test_the_checker_sees_what_is_wrong_with_a_row(corpus: SourceCorpus, folder: Path) -> None:
    texts = read_texts(corpus)
    row = next(kept.data for kept in await rows_of(corpus, folder, GraphQueryStub(), 12) if kept.data["hops"] == 3)
    moved = [{**row["path"][0], "stated": {**row["path"][0]["stated"], "start": 3}}, *row["path"][1:]]
    early = [{**search, "query": f"{search['query']} {row['answer']['name']}"} for search in row["searches"]]
    tampered = [
        {**row, "query": f"{row['query']} {row['answer']['name']}"},
        {**row, "path": moved},
        {**row, "searches": early},
        {**row, "path": row["path"][:-1]},
        {**row, "hops": 2},
        {**row, "conditions": [{**row["conditions"][0], "phrase": "nowhere said"}, *row["conditions"][1:]]},
    ]
    assert not (await check_row(row, texts, corpus.search)).violations
    for wrong in tampered:
        assert (await check_row(wrong, texts, corpus.search)).violations


async def test_rows_come_back_the_same_and_training_can_read_their_entities(corpus: SourceCorpus, folder: Path) -> None:
    first, again = [await rows_of(corpus, folder, GraphQueryStub(), 12) for _ in range(2)]
    assert [row.model_dump_json() for row in first] == [row.model_dump_json() for row in again]
    for row in (GraphQueryRow.model_validate_json(json.dumps(kept.data)) for kept in first):
        text = fold_text(" ".join(hop.stated.text for hop in row.path) + " ".join(hop.stated.title for hop in row.path))
        assert all(is_mentioned(Entity(entity.name, entity.aliases), text) for entity in row.entities)
        assert row.difficulty.hops == row.hops == len(row.path)


def plant_in_row(plant: str, row: dict[str, Any]) -> dict[str, Any]:
    """Break a rule in a finished row, as a set without that check would have kept it."""
    query, answer, conditions = row["query"], row["answer"]["name"], row["conditions"]
    between = next(entity["name"] for entity in row["entities"] if entity["name"] != answer)

    def reword(kind: str, words: str) -> list[dict[str, Any]]:
        return [{**c, "phrase": words} if c["kind"] == kind else c for c in conditions]

    year = next(c for c in conditions if c["kind"] == "year")
    exact = next(int(y) for y in re.findall(r"\d{4}", year["passage"]["text"]) if year["low"] <= int(y) <= year["high"])
    decade = [{**c, "low": exact - 1, "high": exact + 1} if c is year else c for c in conditions]
    changes: dict[str, dict[str, Any]] = {
        "names_answer": {"query": f"{query} {answer}"},
        "names_intermediate": {"query": f"{query} {between}"},
        "names_part": {"query": f"{query} {row['answer']['name'].split()[-1]}"},
        "drops_condition": {"query": query.replace(conditions[-1]["phrase"], "")},
        "keeps_strong_clue": {"query": f"{query} {exact}", "conditions": decade},
        "wrong_year": {"query": f"{query} 1204", "conditions": reword("year", "1204")},
        "unsupported_link": {"query": f"{query} {NONSENSE['en']}", "conditions": reword("linked", NONSENSE["en"])},
        "other_language": {"query": "哪一件事情符合以上所说的全部条件？"},
        "request_names_answer": {"request": f"{row['request']} {answer}"},
        "known_answer": {},
    }
    return {**row, **changes[plant]}


WORDS_OF_VIOLATION = {
    "keeps_strong_clue": "still says",
    "wrong_year": "says another year",
    "unsupported_link": "is not in its sentence",
    "other_language": "another language",
    "known_answer": "known without a search",
    "drops_condition": "is not said",
}


async def test_the_checker_sees_each_planted_violation(corpus: SourceCorpus, folder: Path) -> None:
    texts = read_texts(corpus)
    rows = [kept.data for kept in await rows_of(corpus, folder, GraphQueryStub(), 60)]
    usable = [row for row in rows if row["language"] == "en" and row["hops"] > 1 and has_year(row)]
    for plant in VIOLATIONS:
        planted = plant_in_row(plant, usable[0])
        answer = planted["answer"]["name"] if plant == "known_answer" else ""
        found = await check_row(planted, texts, corpus.search, lambda _, said=answer: said)
        wanted = WORDS_OF_VIOLATION.get(plant, "names")
        assert any(wanted in fault for fault in found.violations), (plant, found.violations)


def has_year(row: dict[str, Any]) -> bool:
    return any(c["kind"] == "year" and c["passage"] for c in row["conditions"])


@pytest.mark.parametrize("plant", VIOLATIONS)
async def test_every_planted_violation_is_refused_with_its_stage(plant: str, corpus: SourceCorpus, folder: Path) -> None:
    stub = GraphQueryStub(plant)
    queries = open_queries(corpus, folder, stub)
    worked = await work(queries, list(islice(queries.list_candidates(), 40)))
    kept = {text for one in worked if one.kept for text in (one.kept.data["query"], one.kept.data["request"])}
    stages = Counter(one.refused.stage for one in worked if one.refused and one.refused.reason)
    assert stub.planted
    assert not kept & stub.planted
    assert REFUSED_AT[plant] & stages.keys()


async def test_the_judge_s_memory_refuses_a_question_and_the_writer_s_does_not(corpus: SourceCorpus, folder: Path) -> None:
    for writer, judge, refused in (("known_answer", "", False), ("", "known_answer", True)):
        told = GraphQueryStub(writer)
        memory = GraphQueryStub(judge)
        memory.share_answers(told)
        queries = open_queries(corpus, folder, told, memory)
        worked = await work(queries, list(islice(queries.list_candidates(), 12)))
        assert any(one.refused and one.refused.stage == "closed_book" for one in worked) is refused
