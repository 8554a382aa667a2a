"""WideSearch: tables as reports have them, with citations in their cells, held against gold tables."""

import json
from pathlib import Path

import pytest

from tests.training.evaluation.item_scoring import judge_short_answer, score_first_item
from tests.training.evaluation.small_benchmark import write_lines

TABLE = "Here it is.\n\n| Name | Founded On | Site | Staff |\n|---|---|---|---|\n{rows}\n\n| x |\n|---|\n"
CITED = """\
| **Acme** [1] | 1904/5/1 [2][3] | [the page](https://acme.example) [1] | 105 [1, 4] |
| [Bolt](https://bolt.example/history) | 1910-01-02 | <https://bolt.example/a> [12] | 50 [3] |"""


async def test_widesearch_by_cell_row_and_table(tmp_path: Path) -> None:
    pipeline = {
        "name": {"preprocess": ["norm_str"], "metric": ["exact_match"]},
        "foundedon": {"metric": ["date_near"]},
        "site": {"metric": ["url_match"]},
        "staff": {"metric": ["number_near"], "criterion": 0.1},
    }
    asked = {"required": ["name", "foundedon", "site", "staff"], "unique_columns": ["name"], "eval_pipeline": pipeline}
    row = {"instance_id": "ws-1", "query": "List them.", "evaluation": json.dumps(asked), "language": "en"}
    write_lines(tmp_path / "widesearch.jsonl", [row])
    gold = tmp_path / "widesearch_gold" / "ws-1.csv"
    gold.parent.mkdir()
    gold.write_text(
        "Name,Founded On,Site,Staff\nAcme,1904-05-01,https://www.acme.example/,100\nBolt,1910-01-02,bolt.example/a,50\n"
    )
    good = "| acme | 1904/5/1 | acme.example | 105 |\n| Bolt | 1910-01-02 | https://bolt.example/a | 50 |"

    async def scored_table(text: str) -> dict[str, float]:
        return (await score_first_item("widesearch", tmp_path, text, judge_short_answer)).values

    assert await scored_table(TABLE.format(rows=good)) == {"item_f1": 1.0, "row_f1": 1.0, "success": 1.0}
    assert await scored_table(TABLE.format(rows=CITED)) == {"item_f1": 1.0, "row_f1": 1.0, "success": 1.0}
    wrong = good.replace("| 50 |", "| 80 |") + "\n| Cord | 1 | c | 1 |"
    assert await scored_table(TABLE.format(rows=wrong)) == {"item_f1": pytest.approx(14 / 20), "row_f1": 0.4, "success": 0.0}
    no_address = good.replace("acme.example", "see [1 of them")
    assert await scored_table(TABLE.format(rows=no_address)) == {"item_f1": pytest.approx(7 / 8), "row_f1": 0.5, "success": 0.0}
    assert await scored_table("No table at all.") == {"item_f1": 0.0, "row_f1": 0.0, "success": 0.0}
