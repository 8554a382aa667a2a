"""The outcomes of a replay as Markdown: what was stored and what came now, in one table."""

from app.domain.budget import Usage
from app.domain.errors import Conflict
from app.domain.plan import ResearchPlan
from app.domain.report import Report
from app.domain.writer import ReportLineage, WriterSettings
from app.reports.rendering import render
from app.reports.rendering.marks import text_mark_of
from infra.cli.progress import as_one_line
from workflows.durable.asking_again import NewReport, Replay

UNKNOWN = "-"
NO_SEARCHES = (
    "Nothing was searched for the new plan: a replay plays back what the run found. Ask the question anew to carry it out."
)


async def compare_reports(replay: Replay, wish: WriterSettings) -> dict[str, str]:
    """Have the report written again; return the files: both reports and their table.

    Raises: as `Replay.write`.
    """
    stored = replay.stored
    if stored.report is None:
        raise Conflict(f"run {stored.run.id} is {stored.run.status}; only a completed run has a report to set beside a new one")
    new = await replay.write(wish)
    old = NewReport(stored.report, stored.lineage, stored.score)
    columns = [
        await _describe_report(replay, old, stored.report_usage),
        await _describe_report(replay, new, replay.record.usage),
    ]
    return {
        "stored.md": _render(replay, stored.report),
        "replayed.md": _render(replay, new.report),
        "comparison.md": _make_table(stored.query.question, columns),
    }


async def compare_plans(replay: Replay, wish: WriterSettings) -> dict[str, str]:
    """Have the plan made again; return the files: the new plan as JSON, and both side by side.

    Raises: as `Replay.plan`.
    """
    stored, new = replay.stored, await replay.plan(wish)
    columns = [
        _describe_plan(stored.planned, stored.lineage.models.planner, stored.plan_usage),
        _describe_plan(new.plan, new.model, replay.record.usage),
    ]
    return {
        "plan.json": f"{new.plan.model_dump_json(indent=1)}\n",
        "comparison.md": f"{_make_table(stored.query.question, columns)}\n{NO_SEARCHES}\n",
    }


def _render(replay: Replay, report: Report) -> str:
    return render(report, replay.stored.run).renderings.markdown


async def _describe_report(replay: Replay, made: NewReport, usage: Usage | None) -> dict[str, str]:
    report, told = made.report, render(made.report, replay.stored.run).told
    support = await replay.measure(report)
    marks = sum(bool(text_mark_of(claim)) for claim in report.claims)
    return {
        "written by": _name_way(made.lineage),
        "words": f"{told['words']:,}",
        "citations": str(told["citations"]),
        "cited sentences": str(support.cited),
        "supported, by the offline grader": f"{support.supported / support.cited:.0%}" if support.cited else UNKNOWN,
        "marks": str(marks),
        "score by the run's rubric": UNKNOWN if made.score is None else f"{made.score:.2f}",
        **_describe_usage(usage),
    }


def _name_way(lineage: ReportLineage) -> str:
    return lineage.way if lineage.agents else UNKNOWN


def _describe_plan(plan: ResearchPlan, model: str, usage: Usage | None) -> dict[str, str]:
    parts = {f"part {n}": f"{part.title}: {part.question}" for n, part in enumerate(plan.subtasks, start=1)}
    told = {"planned by": model or UNKNOWN, **_describe_usage(usage), "goal": plan.intent or UNKNOWN, "title": plan.title}
    return told | parts


def _describe_usage(usage: Usage | None) -> dict[str, str]:
    """Return what a stage used; unknown where the run's log is deleted."""
    if usage is None:
        return {"tokens": UNKNOWN, "US$": UNKNOWN}
    return {"tokens": f"{usage.tokens:,}", "US$": f"{usage.cost_microusd / 1e6:.4f}"}


def _make_table(question: str, columns: list[dict[str, str]]) -> str:
    told = {name: [column.get(name, UNKNOWN) for column in columns] for column in columns for name in column}
    rows = [["", "as stored", "replayed"], ["---"] * 3]
    rows += [[name, *map(_fit_cell, cells)] for name, cells in told.items() if set(cells) != {UNKNOWN}]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"# {as_one_line(question)}", "", *lines, ""])


def _fit_cell(text: str) -> str:
    return as_one_line(text).replace("|", "\\|")
