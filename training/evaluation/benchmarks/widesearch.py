"""WideSearch, whose reports are one large table: `widesearch.jsonl`, and gold tables in `widesearch_gold/<id>.csv`."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.missing import Missing
from app.domain.query import Language
from training.evaluation.benchmarks.article import clean_cell, read_cell_address
from training.evaluation.benchmarks.files import find_file, read_csv_rows, read_json_lines
from training.evaluation.harness.example import Benchmark, BenchmarkAnswer, BenchmarkInput, Example
from training.evaluation.harness.figures import means_of
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from training.evaluation.table_metrics import (
    TableRow,
    find_table,
    is_near_number,
    is_same_address,
    is_same_date,
    is_same_text,
    is_within,
    normalise_column,
    table_score,
)
from training.rewards.score import require_present
from workflows.judging.short_answer import judge_answer

ROW_F1, ITEM_F1, WHOLE = "row_f1", "item_f1", "success"
FIGURES = (ITEM_F1, ROW_F1, WHOLE)
TOLERANCE = 0.0
BY_JUDGE = "llm_judge"
BY_ADDRESS = "url_match"
MEASURES = {"exact_match": is_same_text, BY_ADDRESS: is_same_address, "date_near": is_same_date, "in_match": is_within}
NEAR_NUMBER = "number_near"


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """The measures of a column's cells, all of which must hold, and the criterion that they need."""

    measures: tuple[str, ...]
    criterion: str = ""


@dataclass(frozen=True, slots=True)
class TableGold:
    """The gold rows, the required columns, and the key columns among them."""

    rows: Sequence[TableRow]
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    rules: Mapping[str, ColumnRule]


async def score_table(example: Example[TableGold], answer: BenchmarkAnswer, judging: Judging) -> ItemScores:
    """Score the report's largest table against the gold table. A table without the required columns scores 0."""
    gold, said = example.gold, find_table(answer.text)
    if said is None or any(name not in said[0] for name in gold.columns):
        return item_scores_of(example.id, dict.fromkeys(FIGURES, 0.0), "no table with the columns asked for")
    unique = {_key_of(row, gold.keys): row for row in said}
    wanted = {_key_of(row, gold.keys): row for row in gold.rows}
    pairs = [(unique[key], row) for key, row in wanted.items() if key in unique]
    judged = await asyncio.gather(*(_judge_cells(example, one, other, judging) for one, other in pairs))
    right = require_present(judged)
    if isinstance(right, Missing):
        return item_scores_of(example.id, dict.fromkeys(FIGURES, right))
    found = table_score(right, len(unique), len(wanted), len(gold.columns))
    return item_scores_of(example.id, {ITEM_F1: found.item_f1, ROW_F1: found.row_f1, WHOLE: found.whole})


async def _judge_cells(example: Example[TableGold], said: TableRow, gold: TableRow, judging: Judging) -> list[bool] | Missing:
    names = example.gold.columns
    return require_present(
        await asyncio.gather(*(_judge_cell(example, name, said.get(name, ""), gold[name], judging) for name in names))
    )


async def _judge_cell(example: Example[TableGold], name: str, said: str, gold: str, judging: Judging) -> bool | Missing:
    rule = example.gold.rules.get(name)
    if name in example.gold.keys or rule is None:
        return is_same_text(clean_cell(said), clean_cell(gold))
    for measure in rule.measures:
        one, other = (read_cell_address(cell) if measure == BY_ADDRESS else clean_cell(cell) for cell in (said, gold))
        holds = await _judge_measure(measure, rule, f"{name}: {rule.criterion}", one, other, judging)
        if isinstance(holds, Missing) or not holds:
            return holds
    return True


async def _judge_measure(measure: str, rule: ColumnRule, question: str, said: str, gold: str, judging: Judging) -> bool | Missing:
    if measure == NEAR_NUMBER:
        return is_near_number(said, gold, _tolerance_of(rule.criterion))
    if measure != BY_JUDGE:
        return MEASURES[measure](said, gold)
    if is_same_text(said, gold):
        return True
    return (await judge_answer([judging.kit], question, gold, said))[0] if said else False


def _tolerance_of(criterion: str) -> float:
    try:
        return float(criterion)
    except ValueError:
        return TOLERANCE


def _key_of(row: TableRow, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(" ".join(clean_cell(row.get(name, "")).casefold().split()) for name in keys)


def _data_file(reading: BenchmarkInput) -> Path:
    return find_file(reading.data, "widesearch.jsonl")


def _read_examples(reading: BenchmarkInput) -> list[Example[TableGold]]:
    return read_json_lines(_data_file(reading), lambda row: _read_example(row, reading.data / "widesearch_gold"))


def _read_example(row: dict[str, Any], folder: Path) -> Example[TableGold]:
    asked = json.loads(row["evaluation"]) if isinstance(row["evaluation"], str) else row["evaluation"]
    columns = tuple(map(normalise_column, asked["required"]))
    rows = [
        {normalise_column(name): value for name, value in found.items()}
        for found in read_csv_rows(folder / f"{row['instance_id']}.csv")
    ]
    if not rows or any(name not in rows[0] for name in columns):
        raise ValueError(f"the gold table of {row['instance_id']} is empty, or lacks a column")
    rules = {normalise_column(name): _read_rule(name, rule) for name, rule in asked["eval_pipeline"].items()}
    gold = TableGold(rows, columns, tuple(map(normalise_column, asked["unique_columns"])), rules)
    return Example(str(row["instance_id"]), str(row["query"]), Language(row["language"]), gold)


def _read_rule(name: str, rule: Mapping[str, Any]) -> ColumnRule:
    measures = tuple(rule.get("metric") or ())
    if unknown := [m for m in measures if m not in (*MEASURES, NEAR_NUMBER, BY_JUDGE)]:
        raise InvalidInput(f"the column {name!r} is to be compared by {unknown[0]!r}, which is not known")
    return ColumnRule(measures, str(rule.get("criterion") or ""))


def _files_of(reading: BenchmarkInput) -> list[Path]:
    return [_data_file(reading), *sorted((reading.data / "widesearch_gold").glob("*.csv"))]


WIDESEARCH = Benchmark(
    name="widesearch",
    about="WideSearch: a large table against a gold one, by cell, by row and as a whole",
    files=_files_of,
    read=_read_examples,
    score=score_table,
    figures=means_of(*FIGURES),
    prompts=("answer_right",),
)
