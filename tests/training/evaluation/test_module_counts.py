"""Module metrics in a run: what an item adds, what the figures make of all items, what the page shows of them."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from app.domain.budget import AgentLimits
from app.domain.errors import Conflict
from app.domain.evidence import Quote, Source
from app.domain.interactions import Interactions
from app.domain.query import Language
from app.domain.report import Report, Section
from app.settings import Settings
from infra.cli.evaluation_commands import compare_limits, show_report
from tests.support.model_stub import serve_model_stub
from tests.training.evaluation.small_benchmark import COLLECTION, index_collection, write_benchmark
from tests.training.evaluation.test_module_metrics import act, said, used
from training.evaluation.harness.caps import NO_CAPS, Caps
from training.evaluation.harness.example import BenchmarkAnswer
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.manifest import JudgeUsed, ModelUsed, RunManifest, SystemUsed
from training.evaluation.harness.module_counts import count_item, interactions_of, module_figures_of
from training.evaluation.harness.modules_page import draw_efficiency_plots
from training.evaluation.harness.run_request import RunRequest
from training.evaluation.harness.scores import ItemScores
from training.evaluation.harness.starting import run_benchmark
from workflows.agents.kit import Bounds

EN = Language.ENGLISH
TODAY = date(2026, 3, 1)
OUTLINE = '{"title": "T", "sections": [{"heading": "Reasons"}, {"heading": "Revenue"}]}'
TEXT = """# T

## Reasons

#### Deep

The rate will reach 5 percent by 2024. Prices rose.

| a | b |
|---|
| 1 | 2 |
"""
TURNS = [
    act("First.", "search", "wool tariffs"),
    used("search"),
    act("That did not answer it.", "search", "tariffs on wool"),
    used("search", "the provider is away"),
    act("Look.", "browse", "https://a.example/x"),
    used("browse"),
    said(OUTLINE, "report/outline", "outline", tokens=700),
]
QUOTE = Quote(
    source=Source(url="https://a.example/x", title="A", snapshot="0" * 64), text="In 1828 the rate was 61.7%.", start=0, end=27
)
TABLE = f"| year | rate |\n|---|---|\n| 1828 | 61.7% [[{QUOTE.key}]] |\n| 1832 | 33% [[{QUOTE.key}]] |\n| 1846 | 25% |"
WRITTEN = Report(title="T", sections=(Section(heading="Reasons", body=TABLE),), quotes=(QUOTE,))


def scores_of(item: str, answer: BenchmarkAnswer, turns: list, **values: float) -> ItemScores:  # type: ignore[type-arg]
    return ItemScores(item=item, values=count_item(answer, turns, EN, TODAY) | values)


def test_figures_over_items_by_hand() -> None:
    one = scores_of("1", BenchmarkAnswer(item="1", text=TEXT, report=WRITTEN), TURNS, right=1.0)
    brief = BenchmarkAnswer(item="2", text="## Reasons\n\nNothing.", report=WRITTEN)
    two = scores_of("2", brief, [act("x", "search", "wool"), used("search")])
    figures = {name: figure.compute([one, two]) for name, figure in module_figures_of([one, two]).items()}
    assert figures == pytest.approx(
        {
            "turns": 2.0,
            "tool_calls": 2.0,
            "longest_context": 400.0,
            "reflection_turns": 0.5,
            "query_repetition": 1 / 4,
            "tag_format": 1.0,
            "tool_reward": (0.1 - 0.1 + 0.1 + 0.1) / 4,  # the second search failed
            "form_reward": 0.1,
            "search_reward": (2 / 6 + 1 / 6) / 2,  # it was the first one again
            "title_miss_rate": 1 / 5,
            "hierarchy_errors": 0.5,
            "tense_error_rate": 1 / 2,
            "reports_with_tense_errors": 1 / 2,
            "valid_tables": 0.0,
            "valid_tables_repaired": 1.0,
            "wrong_table_numbers": 1 / 2,
            "expression_issues": 0.0,
            "sound_markdown": 0.5,
            "sound_citations": 1.0,
            "browse: share of calls": 1 / 4,
            "browse: failure rate": 0.0,
            "search: share of calls": 3 / 4,
            "search: failure rate": 1 / 3,
        }
    )
    assert one.values["report.tense_errors"] == 1
    assert interactions_of([one, two, ItemScores(item="3")]) == [Interactions(turns=n, tool_calls=n) for n in (3, 1)]
    shorter = count_item(BenchmarkAnswer(item="1", text=TEXT, report=WRITTEN), TURNS, EN, TODAY, sections=1)
    assert (one.values["report.titles_missed"], shorter["report.titles_missed"]) == (1, 0), "it was not to be written"


def test_of_a_report_from_a_file_its_form_alone_is_counted() -> None:
    score = scores_of("1", BenchmarkAnswer(item="1", text=TEXT), [])
    assert {name.split(".")[0] for name in score.values} == {"report"}
    assert "report.tense_errors" not in score.values, "nobody knows when it was written"
    assert "tense_error_rate" not in module_figures_of([score])
    assert count_item(BenchmarkAnswer(item="1"), [], EN, TODAY) == {}
    assert module_figures_of([ItemScores(item="1", values={"right": 1.0})]) == {}


def test_plots_of_right_answers_have_lines_within_limits_and_graded_ones_only_dots() -> None:
    cost = [{"search.tool_calls": n, "search.context_tokens": 9_000.0 * n} for n in (4, 12, 40)]
    right = [ItemScores(item=str(n), values={**row, "right": float(n != 1)}) for n, row in enumerate(cost)]
    drawn = draw_efficiency_plots("right", right)
    assert len(drawn) == 4
    assert "right within a limit of tool calls" in drawn[2]
    assert all(f">{limit}<" in drawn[2] for limit in (8, 16, 32, 64))
    graded = [ItemScores(item=s.item, values={**s.values, "right": 0.4}) for s in right]
    assert len(draw_efficiency_plots("right", graded)) == 2
    assert draw_efficiency_plots("right", right[:2]) == []


def test_caps_hold_agents_to_calls_and_contexts() -> None:
    usual = AgentLimits(max_turns=10, max_tool_calls=20)
    assert Caps(calls=64).cap_limits(usual) == AgentLimits(max_turns=64, max_tool_calls=64)
    assert Caps(context=8_000).cap_bounds(Bounds(), EN).conversation_chars == 24_000
    assert Caps(context=8_000).cap_bounds(Bounds(), Language.CHINESE).conversation_chars == 9_000
    assert Caps(context=131_072).cap_bounds(Bounds(), EN).observation_chars == 4 * Bounds().observation_chars
    assert (NO_CAPS.cap_limits(usual), NO_CAPS.cap_bounds(Bounds(), EN)) == (usual, Bounds())


async def test_a_run_keeps_and_shows_them_and_is_held_to_its_caps(tmp_path: Path) -> None:
    data, out = write_benchmark(tmp_path / "data"), tmp_path / "run"
    index_collection(tmp_path / "home", tmp_path / "docs")
    async with serve_model_stub() as stub:
        settings = Settings.model_validate({"llm_base_url": stub.base_url, "llm_model": "stub", "home": tmp_path / "home"})
        wanted = RunRequest("drb-race", data, out, ids=("1",), collections=(COLLECTION,), caps=Caps(calls=1))
        await run_benchmark(settings, wanted, lambda _: None)
    folder = RunFolder(out)
    values = folder.read_scores()["1"].values
    agents = {turn.agent for turn in folder.read_turns("1") if turn.call}
    assert values["search.tool_calls"] == values["tool.search.calls"] == len(agents), "one call for each agent"
    assert values["report.titles"] > 3
    assert folder.read_manifest().system.caps == Caps(calls=1)
    assert show_report(out) == 0
    page = (out / "report.html").read_text()
    assert "<h2>Modules</h2>" in page
    assert "<td>search: failure rate</td><td>0.0000</td>" in page
    assert "<h2>Turns and tool calls</h2>" in page
    assert "<th>samples: 1</th>" in page
    turns, calls = int(values["search.turns"]), len(agents)
    for name, n in (("turns", turns), ("tool calls", calls)):
        assert f"<tr><td>{name}</td><td>{n}.00</td><td>0.00</td>{f'<td>{n}</td>' * 5}</tr>" in page
    assert "<td>at most</td><td>1 calls</td>" in page


def test_one_system_under_several_limits_is_drawn_and_anything_else_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judge = JudgeUsed(model=ModelUsed(name="j", codec="schema"))

    def kept(name: str, caps: Caps, right: float, system: str = "react") -> Path:
        used_by = SystemUsed(name=system, caps=caps)
        now = datetime(2026, 3, 1, tzinfo=UTC)
        manifest = RunManifest(
            benchmark="gaia", data={"m": "1"}, items=("1", "2"), system=used_by, judge=judge, today=TODAY, started_at=now
        )
        with RunFolder(tmp_path / name).open_run(manifest):
            for item, value in (("1", right), ("2", 1.0)):
                values = {"right": value, "search.tool_calls": 3.0, "search.context_tokens": 900.0}
                RunFolder(tmp_path / name).keep_scores(ItemScores(item=item, values=values))
        return tmp_path / name

    runs = [kept("c8", Caps(calls=8), 0.0), kept("c16", Caps(calls=16), 1.0), kept("free", NO_CAPS, 1.0)]
    assert compare_limits(runs, tmp_path / "limits.html") == 0
    page = (tmp_path / "limits.html").read_text()
    assert page.count("<svg") == 1, "one run is held to no context: no line of it"
    assert "right under a limit of tool calls" in page
    assert "<td>8</td><td>–</td><td>0.5000</td><td>0.0945 to 0.9055</td><td>2</td><td>3.0000</td><td>900.0000</td>" in page
    assert "calls 16 context -" in capsys.readouterr().out
    with pytest.raises(Conflict, match="same limits"):
        compare_limits([runs[0], kept("twin", Caps(calls=8), 1.0)], tmp_path / "x.html")
    with pytest.raises(Conflict, match="different systems"):
        compare_limits([runs[0], kept("other", Caps(calls=4), 1.0, "mams")], tmp_path / "x.html")
