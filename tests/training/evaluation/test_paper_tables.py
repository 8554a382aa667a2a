"""Tables of the papers: cells that runs fill with values worked by hand, and what the others say."""

import math
from pathlib import Path
from statistics import fmean

import pytest
from typer.testing import CliRunner

from app.domain.errors import InvalidInput, NotFound
from infra.cli.evaluation import app
from infra.cli.evaluation_tables import make_table
from tests.support.model_stub import ModelStub, serve_model_stub
from tests.training.evaluation.paper_table_runs import rows_of, write_scores
from tests.training.evaluation.small_benchmark import write_benchmark
from tests.training.evaluation.test_harness import judge, judged
from training.evaluation.benchmarks.catalogue import load_benchmark
from training.evaluation.harness.caps import Caps
from training.evaluation.harness.module_counts import FIGURES
from training.evaluation.paper_tables.description import list_tables, load_table

GENERATED = [{"difference": d} for d in (1.0, 1.0, -1.0, 1.0)]


def fill(name: str, out: Path, *runs: str) -> dict[tuple[str, str], dict[str, str]]:
    """Make a table of runs, and read its cells by label and column."""
    assert make_table(name, runs, (), (), out) == 0
    return rows_of(out / f"{name}.csv")


@pytest.mark.parametrize("name", list_tables())
def test_every_column_names_figures_that_its_benchmarks_have(name: str) -> None:
    table = load_table(name)
    known = {column.id for column in table.columns}
    for column in table.columns:
        assert bool(column.average) != bool(column.benchmarks)
        assert known.issuperset(column.average)
        for benchmark in map(load_benchmark, column.benchmarks):
            assert {*benchmark.figures, *FIGURES}.issuperset(column.figures)
            assert {*benchmark.variants}.issuperset(column.variants)
            assert all({*benchmark.variants}.issuperset(row.variants) for row in table.rows)
    assert bool(table.columns) != bool(table.panels)


def test_printed_means_are_the_means_of_their_printed_parts() -> None:
    table = load_table("drub-table-1")
    places = {column.id: place for place, column in enumerate(table.columns)}
    parts = {"sqa": ("rubric", "answer", "cite-p", "cite-r"), "average": ("sqa", "researchqa", "drb")}
    checked, other = 0, []
    printed = [(row.id, published) for row in table.rows for published in row.published]
    for row, published in printed:
        for whole, of in parts.items():
            values = [published.values[places[name]] for name in (whole, *of)]
            if not any(map(math.isnan, values)):
                checked += 1
                other += [] if values[0] == pytest.approx(fmean(values[1:]), abs=0.11) else [(row, whole)]
    assert other == [("openai", "sqa")], "the paper itself prints 79.6 there, over parts whose mean is 76.9"
    assert checked == 33


async def test_runs_of_a_benchmark_fill_their_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_benchmark(tmp_path / "data")
    async with serve_model_stub(ModelStub(answerer=judge)) as stub:
        await judged(stub, tmp_path, "short", {1: "brief", 2: "brief", 3: "brief"})
        await judged(stub, tmp_path, "long", {1: "long report", 2: "long report", 3: "a brief report"})
        await judged(stub, tmp_path, "other", {1: "brief", 2: "brief", 3: "brief"}, eval_judge_model="another")
    given = [f"{label}={tmp_path / name}" for label, name in (("before", "short"), ("long", "long"), ("mixed", "other"))]
    found = fill("mdr-table-5", tmp_path, *given)
    assert [float(found[label, "RACE"]["value"]) for label in ("before", "long", "mixed")] == pytest.approx([40, 57.7778, 40])
    assert (found["before", "RACE"]["items"], found["before", "RACE"]["paper_prints"]) == ("3", "43.32")
    assert found["before", "Comp."]["value"] == "", "the benchmark's criteria have no such dimension"
    assert "its run has no value: no item has comprehensiveness" in found["before", "Comp."]["notes"]
    assert found["mixed", "RACE"]["comparable"] == "False"
    assert "not comparable with 'SFT and Search-RL': it differs in judge" in found["mixed", "RACE"]["notes"]
    page, told = (tmp_path / "mdr-table-5.html").read_text(), capsys.readouterr().out
    assert "<b>57.78</b>" in page
    assert page.count("<svg") == 1
    assert '<td class="paper">48.82</td>' in page
    assert "| then Report-RL (DAPO), long only – SFT and Search-RL | RACE | 17.78 |" in told
    assert "long and short – SFT" not in told, "another judge is no baseline"


def test_ways_of_scoring_stand_side_by_side_and_others_say_why_they_are_empty(tmp_path: Path) -> None:
    write_scores(tmp_path / "gen", "preference", GENERATED, variant="generated", model="0.6B", judge="j")
    write_scores(tmp_path / "rl", "preference", GENERATED[:3], variant="generated", model="1.7B", judge="j", data="2")
    write_scores(tmp_path / "point", "preference", GENERATED, variant="pointwise", judge="other")
    labels = {"generated": "gen", "rl-hybrid:1.7B": "rl", "pointwise": "point", "general": "gen"}
    found = fill("qsr-table-1", tmp_path, *(f"{label}={tmp_path / folder}" for label, folder in labels.items()))
    accuracy, d = "Pref. Acc./AUC (%)", "Paired Cohen's d"
    assert float(found["generated", accuracy]["value"]) == 75.0
    assert float(found["generated", d]["value"]) == pytest.approx(0.5 / math.sqrt(0.75))
    assert float(found["generated", accuracy]["low"]) == pytest.approx(30.06, abs=0.01), "Wilson's, of 3 in 4"
    assert found["pointwise", accuracy]["comparable"] == "True", "a judge of its own is what the row measures"
    assert found["rl-hybrid:1.7B", accuracy]["row"] == "RL with hybrid reward: 1.7B"
    assert "it differs in data" in found["rl-hybrid:1.7B", accuracy]["notes"]
    assert found["general", d]["notes"] == "empty: takes the variant general, and its run is of generated"
    assert found["sft", d]["notes"] == "empty: no run has this row's label"
    assert found["sft", d]["paper_prints"] == "0.260; 0.317"
    assert found["sft", d]["paper_ran"] == "Qwen3-14B; Qwen3-30B-A3B"


def test_an_average_recovers_its_interval_and_counts_one_language(tmp_path: Path) -> None:
    sqa = {"rubric": 0.8, "answer_precision": 0.6, "citation_precision": 0.4, "citation_recall": 0.2}
    low = {name: value - 0.1 for name, value in sqa.items()}
    write_scores(tmp_path / "sqa", "scholarqa", [sqa, low], system="deeprubric")
    write_scores(tmp_path / "rqa", "researchqa", [{"coverage": c, "fully_covered": 0.0} for c in (0.2, 0.4, 0.3)])
    dimensions = {"comprehensiveness": 0.1, "insight": 0.2, "instruction_following": 0.3, "readability": 0.4, "overall": 0.9}
    higher = {name: value + 0.02 for name, value in dimensions.items()}
    chinese = dict.fromkeys(dimensions, 1.0)
    write_scores(tmp_path / "drb", "drb-race", [dimensions, higher, chinese], variant="strict", chinese=1)
    found = fill("drub-table-2", tmp_path, *(f"full={tmp_path / name}" for name in ("sqa", "rqa", "drb")))
    cells = [found["full", name] for name in ("SQAv2", "ResearchQA", "DRB", "Average")]
    assert [float(cell["value"]) for cell in cells] == pytest.approx([45.0, 30.0, 26.0, 101 / 3])
    assert (cells[2]["items"], cells[3]["items"]) == ("2", "7")
    below = [float(cell["value"]) - float(cell["low"]) for cell in cells]
    assert below[3] == pytest.approx(math.hypot(*below[:3]) / 3)
    assert "the row's runs are of several models or systems" in (tmp_path / "drub-table-2.md").read_text()
    assert found["closed-book", "Average"]["notes"] == "empty: no run has this row's label"
    alone = fill("drub-table-2", tmp_path / "one", f"full={tmp_path / 'rqa'}")
    assert alone["full", "Average"]["notes"] == "empty: takes all the columns that it averages"
    assert "takes a run of scholarqa (ScholarQA-CS's published" in alone["full", "SQAv2"]["notes"]


def test_error_rates_are_complements_and_a_rows_benchmarks_have_an_order(tmp_path: Path) -> None:
    tables = {"report.tables": 2.0, "report.tables_valid_repaired": 2.0, "report.statements": 10.0}
    values = [
        {"overall": 0.5, "report.tables_valid": 2.0, "report.tense_errors": 2.0, **tables},
        {"overall": 0.4, "report.tables_valid": 1.0, "report.tense_errors": 0.0, **tables},
    ]
    issues = [{"paragraphs": 4.0, "paragraphs_with_issues": n, "issues": n, "report.tense_errors": 9.0} for n in (0.0, 1.0)]
    write_scores(tmp_path / "race", "drb-race", values, variant="official")
    write_scores(tmp_path / "writing", "drb-writing", issues)
    found = fill("mdr-table-6", tmp_path, f"dpo={tmp_path / 'race'}", f"dpo={tmp_path / 'writing'}")
    names = ("Table error (%)", "Post-proc. table error (%)", "Temporal error (%)", "Expression / logic issues (%)")
    assert [float(found["dpo", name]["value"]) for name in names] == pytest.approx([25.0, 0.0, 50.0, 12.5])
    error = found["dpo", names[0]]
    assert error["low"] == "" or float(error["low"]) <= 25.0 <= float(error["high"])
    with pytest.raises(InvalidInput, match=r"both fill 'DeepResearch Bench' of 'dpo'"):
        fill("mdr-table-6", tmp_path, *[f"dpo={tmp_path / 'race'}"] * 2)


def test_limits_are_measured_by_runs_under_them_and_else_bounded_from_below(tmp_path: Path) -> None:
    used = [(1.0, 4.0), (1.0, 12.0), (0.0, 3.0), (1.0, 40.0)]
    values = [{"right": right, "search.tool_calls": n, "search.context_tokens": 9_000.0} for right, n in used]
    write_scores(tmp_path / "free", "browsecomp-zh", values, services=())
    write_scores(tmp_path / "eight", "browsecomp-zh", values[:2], caps=Caps(calls=8))
    found = fill("mdr-fig-9", tmp_path, f"ours={tmp_path / 'free'}", f"ours={tmp_path / 'eight'}")
    shown = {name: float(found["ours", name]["value"]) for name in ("Right (%)", "Tool calls", "≤ 8 calls (%)", "≤ 16 calls (%)")}
    assert shown == pytest.approx({"Right (%)": 75.0, "Tool calls": 14.75, "≤ 8 calls (%)": 100.0, "≤ 16 calls (%)": 50.0})
    assert "a lower bound" in found["ours", "≤ 16 calls (%)"]["notes"]
    assert found["ours", "≤ 8 calls (%)"]["notes"] == "", "measured under the limit, and with the web"
    assert "searched without the web" in found["ours", "Right (%)"]["notes"]
    assert float(found["ours", "≤ 16k tokens (%)"]["value"]) == 75.0
    assert (tmp_path / "mdr-fig-9.html").read_text().count("<svg") == 4
    alone = fill("mdr-table-2", tmp_path, f"ours={tmp_path / 'eight'}", f"free={tmp_path / 'free'}")
    assert ("ours", "BrowseComp-ZH") not in alone, "a run under a limit stands for no run without one"
    assert float(alone["free", "BrowseComp-ZH"]["value"]) == 75.0


def test_checkpoints_are_drawn_over_their_steps(tmp_path: Path) -> None:
    for step in (0, 75):
        values = [{"rubric": 0.1, "answer_precision": 0.1, "citation_precision": 0.1, "citation_recall": v} for v in (0.1, 0.2)]
        write_scores(tmp_path / str(step), "scholarqa", values)
    found = fill("drub-fig-3", tmp_path, *(f"deeprubric@{step}={tmp_path / str(step)}" for step in (0, 75)))
    assert float(found["deeprubric@75", "SQAv2"]["value"]) == pytest.approx(11.25)
    assert found["deeprubric@75", "SQAv2"]["paper_prints"] == "85.1"
    assert (tmp_path / "drub-fig-3.html").read_text().count("<svg") == 1


def test_a_run_that_fills_nothing_is_told_and_labels_are_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turns = [{"overall": 0.5, "search.tool_calls": n, "search.turns": 2.0} for n in (6.0, 7.0)]
    write_scores(tmp_path / "run", "drb-race", turns, system="react", variant="strict", demonstration=True)
    write_scores(tmp_path / "pairs", "preference", GENERATED, variant="length")
    given = [f"{label}={tmp_path / 'run'}" for label in ("mams", "react", "<b>|bold")]
    found = fill("qsr-table-6", tmp_path, *given, str(tmp_path / "pairs"))
    assert float(found["react", "Tool calls a sample"]["value"]) == 6.5
    assert found["mams", "Turns a sample"]["notes"] == "empty: takes the system mams, and its run is of react"
    assert "a demonstration, which measures nothing" in found["react", "Turns a sample"]["notes"]
    page, told = (tmp_path / "qsr-table-6.html").read_text(), capsys.readouterr()
    assert f"mams={tmp_path / 'run'} fills nothing: takes the system mams, and its run is of react" in told.err
    assert "<b>|bold" not in page
    assert "A demonstration" in page
    assert r"| <b>\|bold |" in told.out
    assert f"minddr, policy={tmp_path / 'pairs'} fills nothing: no column takes a run of preference" in told.err


def test_the_command_lists_tables_and_shows_what_an_empty_one_takes(tmp_path: Path) -> None:
    listed = CliRunner().invoke(app, ["tables"])
    assert [line.split()[0] for line in listed.output.splitlines()] == [*list_tables()]
    done = CliRunner().invoke(app, ["table", "qsr-table-5", "--out", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    assert "| GRPO with hybrid reward | `grpo` |" in done.output
    assert {path.name for path in (tmp_path / "new").iterdir()} == {f"qsr-table-5.{kind}" for kind in ("html", "md", "csv")}


def test_what_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"there is no table 'x'; there are drub-fig-3"):
        make_table("x", (), (), (), tmp_path)
    with pytest.raises(InvalidInput, match="is no LABEL=FOLDER"):
        make_table("qsr-table-1", ("=folder",), (), (), tmp_path)
    with pytest.raises(NotFound, match="there is no run"):
        make_table("qsr-table-1", (f"sft={tmp_path}",), (), (), tmp_path)
    with pytest.raises(InvalidInput, match="filled by evaluated runs"):
        make_table("qsr-table-1", (), ("a=b",), (), tmp_path)
    with pytest.raises(InvalidInput, match="filled by training runs"):
        make_table("qsr-fig-3", ("a=b",), (), (), tmp_path)
