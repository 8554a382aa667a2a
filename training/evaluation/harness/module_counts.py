"""The counts of each item for the module metrics (MindDR Table 1, 4, 6; QSR appendix H), and their figures.

`search.*` counts the stored turns, `tool.<name>.*` one tool's calls, `report.*` the delivered text. An item has the counts that
are known: a report from a file has no turns, and no day of writing, so that its tenses are not counted.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from statistics import fmean

from app.domain.errors import AnswerInvalid
from app.domain.interactions import Interactions
from app.domain.missing import Missing
from app.domain.query import Language
from app.domain.report import Report
from app.domain.trajectory import Trajectory, Turn
from training.evaluation.efficiency import MeasuredAttempt
from training.evaluation.harness.example import BenchmarkAnswer
from training.evaluation.harness.figures import BenchmarkFigure, FigureRow, mean_of, ratio_of
from training.evaluation.harness.scores import ItemScores
from training.evaluation.module_metrics import (
    acting_turns_of,
    count_repeated,
    find_reflections,
    is_well_formed,
    queries_of,
    tool_figures_of,
)
from training.evaluation.report_metrics import MeasuredReport, count_report
from training.evaluation.reward_counts import FORM, SEARCH, STEPS, TOOL, count_rewards
from training.rewards.score import Score
from workflows.agents.answer_reading import read_answer
from workflows.agents.kit import Bounds
from workflows.agents.reporting.outline import OUTLINE, repair_outline
from workflows.checks.table_numbers import check_numbers

MOST_SECTIONS = Bounds().sections
TURNS, CALLS, CONTEXT = "search.turns", "search.tool_calls", "search.context_tokens"
FIGURES: Mapping[str, BenchmarkFigure] = {
    "turns": mean_of(TURNS),
    "tool_calls": mean_of(CALLS),
    "longest_context": mean_of(CONTEXT),
    "reflection_turns": mean_of("search.reflections"),
    "query_repetition": ratio_of("search.repeated", "search.asked"),
    "tag_format": ratio_of("search.well_formed", TURNS),
    "tool_reward": ratio_of(TOOL, STEPS),
    "form_reward": ratio_of(FORM, STEPS),
    "search_reward": mean_of(SEARCH),
    "title_miss_rate": ratio_of("report.titles_missed", "report.titles"),
    "hierarchy_errors": mean_of("report.hierarchy_errors"),
    "tense_error_rate": ratio_of("report.tense_errors", "report.statements"),
    "reports_with_tense_errors": BenchmarkFigure(
        ("report.tense_errors",), lambda rows: fmean(row["report.tense_errors"] > 0 for row in rows)
    ),
    "valid_tables": ratio_of("report.tables_valid", "report.tables"),
    "valid_tables_repaired": ratio_of("report.tables_valid_repaired", "report.tables"),
    "wrong_table_numbers": ratio_of("report.cells_wrong", "report.cells_checked"),
    "expression_issues": ratio_of("report.expression_issues", "report.statements"),
    "sound_markdown": mean_of("report.markdown_sound"),
    "sound_citations": mean_of("report.citations_sound"),
}


def count_item(
    answer: BenchmarkAnswer, turns: Sequence[Turn], language: Language, written: date, sections: int = MOST_SECTIONS
) -> dict[str, float]:
    """Count everything that is known of an item. `written` is the day on which a system's report was written.

    `sections` is the most sections that a report has; titles of an outline beyond that do not count as missed.
    """
    found = _count_turns(turns) if turns else {}
    if not answer.text:
        return found
    return found | _count_report_text(answer, MeasuredReport(answer.text, written, _outlined_titles(turns, sections), language))


def module_figures_of(scores: Sequence[ItemScores]) -> dict[str, BenchmarkFigure]:
    """Return the figures that these items have values for, with each tool's share and failure rate."""
    known = {name for score in scores for name in score.values}
    tools = sorted(name.split(".")[1] for name in known if name.startswith("tool.") and name.endswith(".calls"))
    of_tools = {
        f"{tool}: {what}": figure
        for tool in tools
        for what, figure in (
            ("share of calls", _share_over_all(f"tool.{tool}.calls", CALLS)),
            ("failure rate", _share_over_all(f"tool.{tool}.failed", f"tool.{tool}.calls")),
        )
    }
    return {name: figure for name, figure in (*FIGURES.items(), *of_tools.items()) if known.issuperset(figure.needs)}


def interactions_of(scores: Sequence[ItemScores]) -> list[Interactions]:
    """Return the turns and tool calls of each item whose turns are known (QSR appendix H)."""
    known = [score.values for score in scores if {TURNS, CALLS} <= score.values.keys()]
    return [Interactions(turns=int(row[TURNS]), tool_calls=int(row[CALLS])) for row in known]


def _count_turns(turns: Sequence[Turn]) -> dict[str, float]:
    trajectory = Trajectory(episode="", turns=tuple(turns))
    acting = list(acting_turns_of(trajectory))
    asked = list(queries_of(acting))
    attempt = MeasuredAttempt.of(trajectory, Missing("not judged here"))
    found: dict[str, float] = {
        TURNS: len(acting),
        CALLS: attempt.tool_calls,
        CONTEXT: attempt.context_tokens,
        "search.reflections": sum(find_reflections(acting)),
        "search.asked": len(asked),
        "search.repeated": count_repeated(asked),
        "search.well_formed": sum(map(is_well_formed, acting)),
    }
    for tool, figures in tool_figures_of([trajectory]).items():
        found[f"tool.{tool}.calls"] = figures.calls
        found[f"tool.{tool}.failed"] = round(figures.failure_rate * figures.calls)
    return found | count_rewards(trajectory)


def _count_report_text(answer: BenchmarkAnswer, report: MeasuredReport) -> dict[str, float]:
    counts = count_report(report)
    found: dict[str, float] = {
        "report.statements": counts.statements,
        "report.titles": counts.headings + counts.missed_titles,
        "report.titles_missed": counts.empty_titles + counts.missed_titles,
        "report.hierarchy_errors": counts.hierarchy_errors,
        "report.tables": counts.tables,
        "report.tables_valid": counts.tables - counts.faulty_tables,
        "report.tables_valid_repaired": counts.tables - counts.faulty_after_repair,
        "report.expression_issues": counts.expression_issues,
        "report.markdown_sound": counts.markdown_sound,
        "report.citations_sound": counts.citations_sound,
    }
    if answer.report is None:
        return found
    return found | {"report.tense_errors": counts.tense_errors} | _count_cells(answer.report)


def _count_cells(report: Report) -> dict[str, float]:
    """Count the cells whose numbers can be compared with the quotations they cite, and those that differ."""
    sources = {quote.key: quote.text for quote in report.quotes}
    tables = [check_numbers(section.body, sources) for section in report.sections]
    return {
        "report.cells_checked": sum(found.checked for found in tables),
        "report.cells_wrong": sum(len(found.wrong) for found in tables),
    }


def _outlined_titles(turns: Sequence[Turn], sections: int) -> tuple[str, ...]:
    """Return the titles of the last valid outline, as the writer uses it; none where the system writes without an outline."""
    for turn in reversed(turns):
        if turn.step == OUTLINE.name and turn.completion is not None:
            try:
                outline = repair_outline(read_answer(OUTLINE, turn.completion.text), sections, "")
            except AnswerInvalid:
                continue
            return tuple(section.heading for section in outline.sections) if outline else ()
    return ()


def _share_over_all(part: str, whole: str) -> BenchmarkFigure:
    """Return the figure of a share over all items that searched, also those that did not use this tool."""

    def share(rows: Sequence[FigureRow]) -> Score:
        total = sum(row.get(whole, 0.0) for row in rows)
        return sum(row.get(part, 0.0) for row in rows) / total if total else Missing(f"no {whole} was counted")

    return BenchmarkFigure((CALLS,), share)
