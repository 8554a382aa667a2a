"""Questions with short answers, read in their published (partly encrypted) forms and scored."""

import base64
import csv
import hashlib
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from app.domain.chat import ToolCall, ToolResult
from app.domain.errors import InvalidInput
from app.domain.evidence import Passage, Source, snapshot_hash
from app.domain.trajectory import Turn, TurnKind
from tests.training.evaluation.item_scoring import judge_short_answer, score_first_item
from tests.training.evaluation.small_benchmark import write_lines
from training.evaluation.benchmarks.catalogue import load_benchmark
from training.evaluation.harness.example import BenchmarkInput


def covered(key: bytes, text: str) -> str:
    return base64.b64encode(bytes(a ^ b for a, b in zip(text.encode(), cycle(key), strict=False))).decode()


def digest(canary: str) -> bytes:
    return hashlib.sha256(canary.encode()).digest()


async def test_browsecomp_is_read_under_its_canary_and_judged(tmp_path: Path) -> None:
    path, canary = tmp_path / "browse_comp_test_set.csv", "canary GUID one"
    with path.open("w", newline="") as file:
        made = csv.DictWriter(file, ["problem", "answer", "problem_topic", "canary"])
        made.writeheader()
        question, answer = covered(digest(canary), "Which city?" * 9), covered(digest(canary), "Lyon")
        made.writerow({"problem": question, "answer": answer, "problem_topic": "Art", "canary": canary})
    (example,) = load_benchmark("browsecomp").read(BenchmarkInput(path))
    assert (example.question, example.gold.answers, example.domain) == ("Which city?" * 9, ("Lyon",), "Art")
    right = await score_first_item("browsecomp", path, "It is **lyon**, surely.", judge_short_answer)
    assert (right.values["exact_match"], right.values["right"]) == (1.0, 0.0)  # this judge looks at case; exact match does not
    none = await score_first_item("browsecomp", path, "Nobody knows.", judge_short_answer)
    assert none.values == {"exact_match": 0.0, "f1": 0.0, "right": 0.0}
    path.write_text(path.read_text().replace("GUID one", "GUID two"))
    with pytest.raises(InvalidInput, match="row 1: the row is not readable"):
        load_benchmark("browsecomp").read(BenchmarkInput(path))


def test_the_chinese_ones_are_read_under_their_canaries(tmp_path: Path) -> None:
    book, canary = Workbook(), "canary 中"
    sheet = book.active
    assert sheet is not None
    sheet.append(["Topic", "Question", "Answer", "canary"])
    sheet.append([*(covered(digest(canary), text) for text in ("影视", "哪座城市？", "里昂")), canary])
    book.save(tmp_path / "browsecomp-zh-encrypted.xlsx")
    (example,) = load_benchmark("browsecomp-zh").read(BenchmarkInput(tmp_path))
    assert (example.question, example.gold.answers, example.domain, example.language) == ("哪座城市？", ("里昂",), "影视", "zh")
    with (tmp_path / "DeepSearch-2505.csv").open("w", newline="", encoding="utf-8-sig") as file:
        made = csv.DictWriter(file, ["id", "prompt", "answer", "reference_steps", "canary"])
        made.writeheader()
        said = {name: covered(canary.encode(), text) for name, text in {"prompt": "哪一年？", "answer": "1904"}.items()}
        made.writerow({"id": "7", **said, "reference_steps": "", "canary": canary})
    (other,) = load_benchmark("xbench").read(BenchmarkInput(tmp_path))
    assert (other.id, other.question, other.gold.answers) == ("7", "哪一年？", ("1904",))


async def test_gaia_by_its_own_comparison(tmp_path: Path) -> None:
    def row(task: str, answer: str, file: str = "") -> dict[str, Any]:
        return {"task_id": task, "Question": f"{task}?", "Level": 2, "Final answer": answer, "file_name": file}

    data = write_lines(tmp_path / "metadata.jsonl", [row("a", "1234.5"), row("b", "x", "sheet.xlsx"), row("c", "?")])
    assert [example.id for example in load_benchmark("gaia").read(BenchmarkInput(data))] == ["a"]
    assert (await score_first_item("gaia", data, "**$1,234.50**", judge_short_answer)).values == {"right": 1.0}
    assert (await score_first_item("gaia", data, "**1234**", judge_short_answer)).values == {"right": 0.0}
    listed = write_lines(tmp_path / "l" / "metadata.jsonl", [row("a", "St. John's, 3")])
    assert (await score_first_item("gaia", listed, "**st.john's; $3.0**", judge_short_answer)).values == {"right": 1.0}
    for wrong in ("**3, St. John's**", "**st johns, 3**", "**St. John's 3**"):
        assert (await score_first_item("gaia", listed, wrong, judge_short_answer)).values == {"right": 0.0}, wrong
    numbers = write_lines(tmp_path / "n" / "metadata.jsonl", [row("a", "1,2")])
    assert (await score_first_item("gaia", numbers, "**1, 2**", judge_short_answer)).values == {"right": 1.0}
    assert (await score_first_item("gaia", numbers, "**12**", judge_short_answer)).values == {"right": 0.0}, (
        "a list of two is no number"
    )


async def test_multihop_counts_the_names_that_were_met(tmp_path: Path) -> None:
    steps = [{"answer": "Edvard Munch"}, {"answer": "Oslo"}]
    row = {"_id": "q", "text": "Where did the painter die?", "answers": ["Oslo"], "hops": 2, "decomposition": steps}
    data = write_lines(tmp_path / "queries.jsonl", [row])
    text = "The Scream was painted by Edvard Munch."
    source = Source(url="beir:multihop/1", title="t", snapshot=snapshot_hash(text))
    result = ToolResult(passages=(Passage(source=source, text=text, start=0, end=len(text)),))
    turn = Turn(
        agent="search/s1", ordinal=0, kind=TurnKind.TOOL, step="search", digest="d", call=ToolCall(name="s"), result=result
    )
    found = await score_first_item("multihop", data, "**Oslo**", judge_short_answer, turns=[turn])
    assert found.values == {"exact_match": 1.0, "f1": 1.0, "right": 1.0, "entity_coverage": 1.0}
    assert "entity_coverage" not in (await score_first_item("multihop", data, "**Oslo**", judge_short_answer)).values


async def test_a_set_of_graph_queries_is_asked_split_by_split(tmp_path: Path) -> None:
    def row(name: str, hops: int) -> dict[str, Any]:
        answer = {"name": "Lyon", "aliases": ["Lugdunum"]}
        entities = [{"name": "Rhône", "aliases": ["the river"]}]
        asked = f"Which city of {hops} hops?"
        return {
            "id": name,
            "query": asked,
            "language": "en",
            "hops": hops,
            "topic": "arts",
            "answer": answer,
            "entities": entities,
        }

    write_lines(tmp_path / "train" / "rows.jsonl", [row("g-1", 3), row("g-2", 2)])
    write_lines(tmp_path / "test" / "rows.jsonl", [row("g-3", 4)])
    benchmark = load_benchmark("graph-set")
    assert [example.id for example in benchmark.read(BenchmarkInput(tmp_path))] == ["g-1", "g-2", "g-3"]
    (held_out,) = benchmark.read(BenchmarkInput(tmp_path, "test"))
    assert (held_out.gold.answers, held_out.domain, held_out.hops) == (("Lyon", "Lugdunum"), "arts", 4)
    assert held_out.gold.entities[0].aliases == ("the river",)
    with pytest.raises(InvalidInput, match="the split validation"):
        benchmark.read(BenchmarkInput(tmp_path, "validation"))
    found = await score_first_item("graph-set", tmp_path, "It is **Lugdunum**, surely.", judge_short_answer)
    assert found.values["exact_match"] == 1.0
