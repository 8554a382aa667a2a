"""Made sets as benchmarks: what is asked, how a report is scored, and where a run says its questions come from."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from app.domain.evidence_rubric import CriterionType, EvidenceCriterion, EvidenceRubric, Variant
from tests.training.evaluation.item_scoring import score_first_item
from tests.training.evaluation.small_benchmark import write_lines
from training.evaluation.benchmarks.catalogue import load_benchmark
from training.evaluation.builder.publishing import MANIFEST, SetManifest
from training.evaluation.harness.example import BenchmarkInput, QuestionOrigin
from training.evaluation.harness.starting import find_origin

REQUEST = "Please study the river and its city, with sources."


def no_judge(step: str, prompt: str) -> Any:
    raise AssertionError(step)


async def test_a_request_is_scored_by_the_entities_that_its_report_names(tmp_path: Path) -> None:
    row = {"id": "g-1", "query": "Which city?", "request": REQUEST, "language": "en", "topic": "arts", "hops": 2}
    row |= {"answer": {"name": "Lyon", "aliases": ["Lugdunum"]}, "entities": [{"name": "Rhône", "aliases": ["the river"]}]}
    write_lines(tmp_path / "train" / "rows.jsonl", [row | {"coverage_targets": ["Rhône", "Lyon"]}])
    example = load_benchmark("graph-requests").read(BenchmarkInput(tmp_path))[0]
    assert (example.question, example.domain, example.hops) == (REQUEST, "arts", 2)
    whole = await score_first_item("graph-requests", tmp_path, "Lugdunum lies on the rhone.", no_judge)
    half = await score_first_item("graph-requests", tmp_path, "Paris lies on the Rhône.", no_judge)
    assert (whole.values, half.values) == ({"targets_covered": 1.0}, {"targets_covered": 0.5})


async def test_a_query_of_an_evidence_tree_is_scored_by_its_rubric(tmp_path: Path) -> None:
    criteria = tuple(
        EvidenceCriterion(id=f"R{n}", type=CriterionType.LOGICAL, description=f"Weighs {n}.", weight=0.5, source_leaf_ids=())
        for n in range(5)
    )
    rubric = EvidenceRubric(variant=Variant.TREE, criteria=criteria, model="m").model_dump(mode="json")
    row = {"id": "t-1", "query": "How did canals change trade?", "language": "en", "topic": "canals", "rubric": rubric}
    write_lines(tmp_path / "train" / "rows.jsonl", [row])
    found = await score_first_item(
        "tree-set", tmp_path, "They did.", lambda step, shown: {"score": 4 if "Weighs 0" in shown else 0}
    )
    assert found.values == {"rubric": pytest.approx(0.2)}


def test_the_origin_of_questions_is_the_benchmark_s_unless_readers_asked_them(tmp_path: Path) -> None:
    reading = BenchmarkInput(tmp_path)
    found = {name: find_origin(load_benchmark(name), reading) for name in ("drb-race", "graph-requests", "tree-set")}
    assert list(found.values()) == [QuestionOrigin.PUBLIC, QuestionOrigin.GRAPH, QuestionOrigin.TREE]
    published = SetManifest(
        version=1,
        items=1,
        sha256="",
        domains={},
        consents_checked_at=datetime(2026, 11, 1, tzinfo=UTC),
        reviews_needed=1,
        collected=1,
        accepted=1,
        known={},
        against={},
        pseudonym_key="",
    )
    (tmp_path / MANIFEST).write_text(published.model_dump_json())
    assert find_origin(load_benchmark("drb-race"), reading) is QuestionOrigin.READERS
