"""Each benchmark read in its published form, on a sample made up here, and scored by a judge that reads what it is shown."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.domain.errors import InvalidInput
from app.domain.evidence import Quote, Source, snapshot_hash
from app.domain.missing import Missing
from app.domain.report import Report, Section
from bench.labelled_sets import DATA
from tests.training.evaluation.item_scoring import cut_tag, make_judging, read_numbered, score_first_item
from tests.training.evaluation.small_benchmark import write_benchmark, write_lines
from training.evaluation.benchmarks.catalogue import load_benchmark
from training.evaluation.benchmarks.drb_fact import FACT, count_verdicts
from training.evaluation.harness.example import BenchmarkAnswer, BenchmarkInput
from training.evaluation.race_files import read_rows
from workflows.judging.fact_judge import PageVerdict


def lists(step: str, prompt: str) -> Any:
    """Covers and meets what it finds word for word; calls a demand excluded that the excluded source is cited for."""
    text = cut_tag(prompt, "answer" if step == "coverage" else "report")
    if step == "coverage":
        return {"levels": [{"point": n, "level": 5 if p in text else 2} for n, p in read_numbered(cut_tag(prompt, "points"))]}
    verdicts = []
    for n, demand in read_numbered(cut_tag(prompt, "demands")):
        verdict = "met" if demand in text else "absent"
        verdicts.append({"demand": n, "verdict": "excluded" if f"{demand} [secret]" in text else verdict})
    return {"verdicts": verdicts}


async def test_researchqa_is_coverage_in_five_levels(tmp_path: Path) -> None:
    rubric = [{"rubric_item": f"point {n}", "type": "citation"} for n in range(10, 20)]
    row = {"id": "r1", "query": "What?", "general_domain": "Physics", "subdomain": "", "field": "", "date": "", "rubric": rubric}
    data = tmp_path / "test.json"
    data.write_text(json.dumps([row]))
    found = await score_first_item("researchqa", data, "point 10, point 11", lists)
    assert found.values == {"coverage": pytest.approx((2 * 1 + 8 * 0.25) / 10), "fully_covered": 0.2}
    short_list = await score_first_item("researchqa", data, "x", lambda _, prompt: {"levels": [{"point": 1, "level": 5}]})
    assert set(short_list.missing) == {"coverage", "fully_covered"}
    data.write_text(json.dumps([row | {"rubric": []}]))
    with pytest.raises(InvalidInput, match="row 1: the rubric is empty"):
        load_benchmark("researchqa").read(BenchmarkInput(data))


async def test_drb2_meets_no_demand_by_the_excluded_source(tmp_path: Path) -> None:
    rubric = {"info_recall": ["rates rose", "in 1890"], "analysis": ["because of wool"], "presentation": ["has a table"]}
    content = {"task": "Explain.", "rubric": rubric, "blocked": {"title": "The Report", "urls": ["https://x.example/r"]}}
    data = write_lines(tmp_path / "tasks_and_rubrics.jsonl", [{"idx": 3, "content": content}])
    seen: list[str] = []

    def judge(step: str, prompt: str) -> Any:
        seen.append(cut_tag(prompt, "excluded_source").strip())
        return lists(step, prompt)

    found = await score_first_item("drb2", data, "rates rose, because of wool [secret], has a table", judge)
    dimensions = {"info_recall": 0.5, "analysis": 0.0, "presentation": 1.0}
    assert found.values == {"met": 2.0, "demands": 4.0, "excluded": 1.0, **dimensions}
    assert seen == ["The Report; https://x.example/r"]
    assert (
        load_benchmark("drb2").figures["all"].compute([found, found.model_copy(update={"values": {"met": 4.0, "demands": 4.0}})])
        == 0.75
    )


def cited_report() -> Report:
    quotes = [
        quote("Rates on wool doubled in 1828.", "https://a.example/1"),
        quote("Cotton went to Liverpool.", "https://b.example/2"),
    ]
    said = [f"Rates on wool doubled [[{quotes[0].key}]].", f"The king of France objected [[{quotes[1].key}]]."]
    body = "\n\n".join([*said, "Many people were poor then."])
    return Report(title="Tariffs", sections=(Section(heading="Wool", body=body),), quotes=tuple(quotes))


def quote(text: str, url: str) -> Quote:
    return Quote(source=Source(url=url, title="t", snapshot=snapshot_hash(text)), text=text, start=0, end=len(text))


async def test_scholarqa_has_four_figures(tmp_path: Path) -> None:
    demands = [
        {"name": "a", "criterion": "names wool", "weight": 0.3, "evidence": ["Wool!", "more", "more", "hidden"]},
        {"name": "b", "criterion": "names silk", "weight": 0.1},
    ]
    row = {"case_id": "s1", "metric_config": {"config": {"question": "Which goods?", "other_properties": demands}}}
    data = tmp_path / "test_configs_snippets.json"
    data.write_text(json.dumps([row, row]))
    assert len(load_benchmark("scholarqa").read(BenchmarkInput(data))) == 1

    def judge(step: str, prompt: str) -> Any:
        assert "hidden" not in prompt
        if step == "criterion_met":
            return {"score": 4 if "wool" in cut_tag(prompt, "criterion") else 2}
        if step == "off_topic":
            return {"paragraphs": [2]}
        supported = "wool" in cut_tag(prompt, "statement")
        return {"rating": "full" if supported else "none", "result": "yes" if supported or step == "needs_citation" else "no"}

    found = await score_first_item("scholarqa", data, "# T\n\nWool.\n\nWeather.", judge, report=cited_report())
    assert found.values == {
        "rubric": pytest.approx(0.3 / 0.4 + 0.1 / 0.4 * 0.5),
        "answer_precision": 0.5,
        "citation_precision": 0.5,
        "citation_recall": pytest.approx(1 / 3),  # full, none, and a sentence that should cite
    }
    text_only = await score_first_item("scholarqa", data, "Wool.", judge)
    assert set(text_only.missing) == {"citation_precision", "citation_recall", "answer_precision"}  # there is no second paragraph


def fact_judge(step: str, prompt: str) -> Any:
    if step == "facts":
        urls = re.findall(r"https?://\S+", cut_tag(prompt, "report"))
        return {
            "facts": [*({"fact": f"fact {n}", "url": url} for n, url in enumerate(urls)), {"fact": "x", "url": "https://made.up"}]
        }
    if step == "same_facts":
        return {"repetitions": [2]}
    bears = "wool" in cut_tag(prompt, "page")
    found = read_numbered(cut_tag(prompt, "statements"))
    return {"verdicts": [{"statement": n, "verdict": "supported" if bears else "unsupported"} for n, _ in found]}


async def test_fact_counts_what_pages_bear_out(tmp_path: Path) -> None:
    data = write_benchmark(tmp_path)
    report = cited_report()
    kept = {"https://a.example/1": "h1"}
    found = await score_first_item(
        "drb-fact", data, "", fact_judge, report=report, cited=kept, pages={"h1": "wool it was"}, variant="strict"
    )
    assert found.values == {"citations": 2.0, "valid": 1.0, "judged": 1.0, "unknown": 1.0}
    text = "One https://a.example/1 and two https://a.example/1 and https://c.example/3 end."
    other = await score_first_item("drb-fact", data, text, fact_judge, cited=kept, pages={"h1": "wool"}, variant="strict")
    assert other.values == {"citations": 2.0, "valid": 1.0, "judged": 1.0, "unknown": 1.0}
    nothing = await score_first_item("drb-fact", data, "no citation", fact_judge, variant="official")
    assert (nothing.values, nothing.missing) == ({}, {})


@pytest.mark.skipif(not (DATA / "drb").is_dir(), reason="DeepResearch Bench is not at ../shared/data/drb")
def test_the_published_fact_run_is_reproduced() -> None:
    found = []
    for row in read_rows(DATA / "drb" / "fact" / "validated.jsonl.gz"):
        pages = row["citations_deduped"].items()
        verdicts = {url: [("f", PageVerdict(v["result"])) for v in page.get("validate_res") or ()] for url, page in pages}
        found.append(count_verdicts(str(row["id"]), verdicts, "official"))
    figures = {name: figure.compute(found) for name, figure in FACT.figures.items()}
    assert (figures["citations"], figures["valid"], figures["valid_rate"]) == (45.8, 31.0, 0.6768558951965066)


S, U, K = PageVerdict.SUPPORTED, PageVerdict.UNSUPPORTED, PageVerdict.UNKNOWN


@pytest.mark.parametrize(
    ("variant", "figures"),
    [
        ("official", {"citations": 2.0, "valid": 1.5, "valid_rate": 0.75, "unknown_rate": 1 / 4}),
        ("strict", {"citations": 5 / 3, "valid": 1.0, "valid_rate": 0.75, "unknown_rate": 1 / 5}),
    ],
)
def test_fact_by_hand(variant: str, figures: dict[str, float]) -> None:
    tasks = [count_verdicts(str(n), {"p": [("f", v) for v in task]}, variant) for n, task in enumerate(([S, S, U, K], [], [S]))]
    assert {name: figure.compute(tasks) for name, figure in FACT.figures.items()} == pytest.approx(figures)


def test_fact_without_a_judged_citation_has_no_rate() -> None:
    for variant, why in (("strict", "no judged was counted"), ("official", "no item has valid and judged")):
        assert FACT.figures["valid_rate"].compute([count_verdicts("1", {"p": [("f", K)]}, variant)]) == Missing(why)


def test_retrieval_is_scored_by_grades(tmp_path: Path) -> None:
    write_lines(tmp_path / "My Set" / "queries.jsonl", [{"_id": "q1", "text": "wool"}, {"_id": "q2", "text": "no label"}])
    write_lines(tmp_path / "My Set" / "corpus.jsonl", [{"_id": "d/1", "title": "", "text": "wool"}])
    (tmp_path / "My Set" / "qrels").mkdir()
    (tmp_path / "My Set" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td/1\t2\nq1\td2\t1\nq1\td3\t0\n")
    found = load_benchmark("retrieval")
    (example,) = found.read(BenchmarkInput(tmp_path / "My Set"))
    assert example.gold == {"d/1": 2, "d2": 1}
    assert found.corpus is not None
    assert found.corpus(BenchmarkInput(tmp_path / "My Set"), tmp_path).name == "my-set"


PAIRS = [
    {"pair_id": "p1", "question": "Q one?", "response_a": "long and good", "response_b": "short", "majority": -1},
    {"pair_id": "p2", "question": "Q two?", "response_a": "bad", "response_b": "a good one", "majority": 1},
    {"pair_id": "p3", "question": "Q three?", "response_a": "x", "response_b": "y", "majority": 0},
]


def prefers_good(step: str, prompt: str) -> Any:
    if step == "pairwise":
        return {"better": "A" if "good" in cut_tag(prompt, "answer_a") else "B"}
    if step == "rubric":
        return {"criteria": []}
    good = "good" in (cut_tag(prompt, "answer") + cut_tag(prompt, "report"))
    return {"score": 9 if good else 3, "rating": 9 if good else 3}


@pytest.mark.parametrize(("variant", "difference"), [("pointwise", 6.0), ("pairwise", 1.0), ("length", None), ("general", None)])
async def test_ways_of_scoring_against_people(tmp_path: Path, variant: str, difference: float | None) -> None:
    data = write_lines(tmp_path / "pairs.jsonl", PAIRS)
    found = load_benchmark("preference")
    scores = []
    for example in found.read(BenchmarkInput(data, variant)):
        scores.append(await found.score(example, BenchmarkAnswer(item=example.id), make_judging(prefers_good, variant)))
    assert [s.item for s in scores] == ["p1", "p2"]
    assert found.figures["accuracy"].compute(scores) == 1.0
    if difference is not None:
        assert {s.values["difference"] for s in scores} == {difference}


async def test_answers_are_compared_by_rubrics_that_a_model_wrote_from_memory(tmp_path: Path) -> None:
    """A closed-book rubric scores each answer, 4 and 1 of 4; a RACE rubric both, 9 and 3 of 10: a share of .75."""
    data = write_lines(tmp_path / "pairs.jsonl", PAIRS)

    def write(step: str, prompt: str) -> Any:
        if step == "rubric_closed_book":
            return {"criteria": [{"type": "logical", "description": f"It is sound {n}", "weight": 1} for n in range(5)]}
        if step == "race_weights":
            return dict.fromkeys(("comprehensiveness", "insight", "instruction_following", "readability"), 0.25)
        return {"criteria": [{"criterion": f"sound {n}", "explanation": "", "weight": 0.5} for n in range(2)]}

    def judge(step: str, prompt: str) -> Any:
        if step == "criterion_met":
            return {"score": 4 if "good" in cut_tag(prompt, "response") + cut_tag(prompt, "answer") else 1}
        good = "good" in cut_tag(prompt, "article_1")
        scores = [{"criterion": n, "article_1_score": 9 if good else 3, "article_2_score": 3 if good else 9} for n in range(1, 9)]
        return {"scores": scores}

    found = load_benchmark("preference")
    for variant, difference in (("closed_book", 0.75), ("race", 0.25)):
        for example in found.read(BenchmarkInput(data)):
            scores = await found.score(example, BenchmarkAnswer(item=example.id), make_judging(judge, variant, writer=write))
            assert scores.values == {"difference": pytest.approx(difference)}, scores.missing


@pytest.mark.parametrize(("criteria", "scored"), [(0, False), (6, False), (7, True)])
async def test_a_generated_rubric_is_its_writers_alone(tmp_path: Path, criteria: int, scored: bool) -> None:
    """The writer is not the judge, and what it leaves out nobody adds."""
    data = write_lines(tmp_path / "pairs.jsonl", PAIRS)
    shown: list[str] = []

    def write(step: str, _: str) -> Any:
        assert step == "rubric"
        text = "Key Criterion: The report is good in way {}"
        return {"criteria": [{"title": f"Way {n}", "description": text.format(n), "weight": 5} for n in range(criteria)]}

    def judge(step: str, prompt: str) -> Any:
        assert step != "rubric"
        shown.append(prompt.partition("The description:")[2])
        return prefers_good(step, prompt)

    example = load_benchmark("preference").read(BenchmarkInput(data))[0]
    judging = make_judging(judge, "generated", writer=write)
    found = await load_benchmark("preference").score(example, BenchmarkAnswer(item="p1"), judging)
    assert ("difference" in found.values) == scored
    assert len(set(shown)) == (criteria if scored else 0)
    assert all("is good in way" in text for text in shown)


@pytest.mark.skipif(not DATA.is_dir(), reason="the data sets are not at ../shared/data")
def test_real_sets_are_read_whole() -> None:
    sizes = {"multihop": "multihop", "preference": "pairwise_pref", "retrieval": "deepscholar", "scholarqa": "scholarqa"}
    found = {name: len(load_benchmark(name).read(BenchmarkInput(DATA / folder))) for name, folder in sizes.items()}
    assert found["preference"] == 296
    assert found["multihop"] == 155
    assert found["scholarqa"] >= 100
    assert found["retrieval"] > 50
