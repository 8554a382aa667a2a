"""`python -m bench.checks`: measure what the form checks find in other systems' reports, and how well tables are repaired.

Reports: both systems of DeepResearch Bench and the answers of ScholarQA in ../shared/data. `<system>_*` are the figures of
`training/evaluation/report_metrics.py`. Every sound table of theirs is then damaged in each of six ways, as models do:
`damage_found` is the share of damaged tables that are seen as faulty, `damage_repaired` the share that repair makes sound,
`lost` counts words and numbers missing after repair, `sound_changed` sound tables that repair touched.
"""

import gzip
import json
import time
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from app.domain.missing import Missing
from bench.labelled_sets import DATA
from bench.result import print_result, print_skipped
from training.evaluation.report_metrics import MeasuredReport, ReportFigures, measure_reports
from workflows.checks.table_repair import repair_tables
from workflows.checks.tables import find_tables

WRITTEN = date(2026, 3, 1)
"""The reports do not say when they were written; without a later day no prediction of theirs would be of the past."""
SOURCES = {
    "claude": ("drb/claude_3_7_reports.jsonl.gz", "article"),
    "onyx": ("drb/onyx_reports.jsonl.gz", "article"),
    "scholarqa": ("scholarqa/cs/src_answers", "answer_text"),
}
DAMAGES = ("no_rule", "short_rule", "dashes", "gap", "extra_cell", "stuck")


def read_texts(place: str, field: str) -> Iterator[str]:
    """Yield the reports in a file of JSON lines, or in all files of a folder."""
    path = DATA / place
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
            yield from (json.loads(line)[field] for line in lines)


def damage_table(lines: Sequence[str], how: str) -> str:
    """Break a sound table of at least one row in one way."""
    head, rule, first, *rest = lines
    match how:
        case "no_rule":
            broken = [head, first, *rest]
        case "short_rule":
            broken = [head, rule.rstrip().rstrip("|").rpartition("|")[0] + "|", first, *rest]
        case "dashes":
            broken = [head, rule.replace("-", "—"), first, *rest]
        case "gap":
            broken = [head, rule, "", first, *rest]
        case "extra_cell":
            broken = [head, rule, f"{first.rstrip()} more |", *rest]
        case _:
            broken = [*lines, "Source: the report."]
    return "\n".join(broken)


def find_sound_tables(text: str) -> Iterator[list[str]]:
    """Yield the lines of each sound table with two columns or more."""
    lines = text.split("\n")
    for table in find_tables(text):
        if not table.faults and len(table.head) > 1:
            yield lines[table.start : table.end]


def list_letters(text: str) -> list[str]:
    """List the letters and digits, none of which may be lost."""
    return [c for c in text if c.isalnum()]


def measure_damage(tables: Sequence[Sequence[str]]) -> dict[str, float]:
    """Damage every table in every way; return what share is found and repaired."""
    broken = [damage_table(lines, how) for lines in tables for how in DAMAGES]
    mended = [repair_tables(text) for text in broken]
    return {
        "tables": len(tables),
        "damage_found": sum(m.before.faulty > 0 for m in mended) / len(mended),
        "damage_repaired": sum(m.after.faulty == 0 for m in mended) / len(mended),
        "lost": sum(list_letters(m.text) != list_letters(text) for m, text in zip(mended, broken, strict=True)),
        "sound_changed": sum(repair_tables("\n".join(lines)).text != "\n".join(lines) for lines in tables),
    }


def name_figures(system: str, figures: ReportFigures) -> dict[str, float]:
    """Return the figures of one system that could be measured."""
    named = {
        "tense_error_rate": figures.tense_error_rate,
        "hierarchy_errors": figures.hierarchy_errors,
        "title_miss_rate": figures.title_miss_rate,
        "table_errors": figures.table_errors,
        "table_errors_after_repair": figures.table_errors_after_repair,
        "expression_issue_rate": figures.expression_issue_rate,
        "citations_sound": figures.citations_sound,
    }
    return {f"{system}_{name}": value for name, value in named.items() if not isinstance(value, Missing)}


def main() -> None:
    if absent := [place for place, _ in SOURCES.values() if not Path(DATA / place).exists()]:
        print_skipped("checks", f"not at ../shared/data: {', '.join(absent)}")
        return
    figures: dict[str, float] = {}
    tables: list[list[str]] = []
    for system, (place, field) in SOURCES.items():
        found = list(read_texts(place, field))
        began = time.process_time()
        measured = measure_reports([MeasuredReport(text, WRITTEN) for text in found])
        cpu_ms = (time.process_time() - began) * 1_000 / len(found)
        print(f"{system}: {len(found)} reports, {cpu_ms:.0f} ms each; {measured}")
        figures |= name_figures(system, measured)
        tables += [lines for text in found for lines in find_sound_tables(text)]
    print_result("checks", figures | measure_damage(tables))


if __name__ == "__main__":
    main()
