"""Benchmarks with short answers: multi-hop sets, BrowseComp, BrowseComp-ZH, GAIA, xbench.

The short answer is extracted from the report. Exact match and F1 compare it with the gold answers; `right` is a judge's verdict.
A report without a definite answer is wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.domain.missing import Missing
from app.domain.query import Language, detect_language
from retrieval.store.catalogue import Collection, CorpusKind
from training.evaluation.answer_metrics import exact_match, is_gaia_match, token_f1
from training.evaluation.benchmarks.canary import decode_by_canary, decode_by_digest
from training.evaluation.benchmarks.files import find_file, read_all, read_csv_rows, read_json_lines, read_sheet_rows
from training.evaluation.harness.example import Benchmark, BenchmarkAnswer, BenchmarkInput, Example
from training.evaluation.harness.figures import means_of
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import ItemScores, item_scores_of
from training.rewards.entities import Entity, is_mentioned
from training.rewards.sameness import fold_text
from training.rewards.score import Score
from workflows.judging.short_answer import extract_short_answer, judge_answer

PROMPTS = ("short_answer", "answer_right")
RIGHT, EXACT, F1, COVERAGE = "right", "exact_match", "f1", "entity_coverage"
UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class ShortGold:
    """The answers that count as right, and the names that a good search meets on its way, where they are known."""

    answers: tuple[str, ...]
    entities: tuple[Entity, ...] = ()


async def score_short(example: Example[ShortGold], answer: BenchmarkAnswer, judging: Judging) -> ItemScores:
    """Score a report's short answer against the gold answers."""
    gold, coverage = example.gold, entity_share_of(example, judging)
    said = await extract_short_answer(judging.kit, example.question, answer.text)
    figures: dict[str, Score] = dict.fromkeys((RIGHT, EXACT, F1), said) if isinstance(said, Missing) else {}
    if not isinstance(said, Missing):
        figures[EXACT], figures[F1] = exact_match(said, gold.answers), token_f1(said, gold.answers)
        figures[RIGHT] = await _judge_answer(example, said, judging)
    if coverage is not None:
        figures[COVERAGE] = coverage
    return item_scores_of(example.id, figures, None if isinstance(said, Missing) else {"answer": said})


async def score_gaia(example: Example[ShortGold], answer: BenchmarkAnswer, judging: Judging) -> ItemScores:
    """Score by GAIA's own comparison (`is_gaia_match`)."""
    said = await extract_short_answer(judging.kit, example.question, answer.text)
    if isinstance(said, Missing):
        return item_scores_of(example.id, {RIGHT: said})
    return item_scores_of(example.id, {RIGHT: float(is_gaia_match(said, example.gold.answers[0]))}, {"answer": said})


async def _judge_answer(example: Example[ShortGold], said: str, judging: Judging) -> Score:
    if not said:
        return 0.0
    gold = " / ".join(example.gold.answers)
    verdict = (await judge_answer([judging.kit], example.question, gold, said))[0]
    return verdict if isinstance(verdict, Missing) else float(verdict)


def entity_share_of(example: Example[ShortGold], judging: Judging) -> float | None:
    """Return MindDR's Eq. 8 over the observed passages; None where no entities are known or no system searched."""
    passages = [p.text for turn in judging.turns(example.id) if turn.result for p in turn.result.passages]
    if not example.gold.entities or not passages:
        return None
    seen = "\n".join(map(fold_text, passages))
    return sum(is_mentioned(entity, seen) for entity in example.gold.entities) / len(example.gold.entities)


def _multihop_example(row: dict[str, Any]) -> Example[ShortGold]:
    answers = tuple(row["answers"])
    steps = [str(part["answer"]) for part in row.get("decomposition") or ()]
    names = [name for name in steps if name not in answers] or [str(title) for title in row.get("gold_titles") or ()]
    entities = tuple(Entity(name) for name in dict.fromkeys(names))
    domain = f"{row.get('source', '')}, {row['hops']} hops" if "hops" in row else str(row.get("source", ""))
    return Example(str(row["_id"]), str(row["text"]), detect_language(row["text"]), ShortGold(answers, entities), domain)


def _gaia_example(row: dict[str, Any]) -> Example[ShortGold]:
    gold = ShortGold((str(row["Final answer"]),))
    return Example(str(row["task_id"]), str(row["Question"]), Language.ENGLISH, gold, f"level {row['Level']}")


def _browsecomp_example(number: int, row: dict[str, str]) -> Example[ShortGold]:
    question, answer = (decode_by_digest(row[name], row["canary"]) for name in ("problem", "answer"))
    return Example(
        f"browsecomp-{number}", question, detect_language(question), ShortGold((answer,)), row.get("problem_topic", "")
    )


def _browsecomp_zh_example(number: int, row: dict[str, str]) -> Example[ShortGold]:
    question, answer, topic = (decode_by_digest(row[name], row["canary"]) for name in ("Question", "Answer", "Topic"))
    return Example(f"browsecomp-zh-{number}", question, Language.CHINESE, ShortGold((answer,)), topic)


def _xbench_example(row: dict[str, str]) -> Example[ShortGold]:
    question, answer = (decode_by_canary(row[name], row["canary"]) for name in ("prompt", "answer"))
    return Example(str(row["id"]), question, detect_language(question), ShortGold((answer,)))


def _number_rows(rows: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    return [{"number": number, "row": row} for number, row in enumerate(rows, 1)]


def _read_multihop(reading: BenchmarkInput) -> list[Example[ShortGold]]:
    return read_json_lines(find_file(reading.data, "queries.jsonl", "queries.jsonl.gz"), _multihop_example)


def _read_gaia(reading: BenchmarkInput) -> list[Example[ShortGold]]:
    """Read the items that have an answer and no attached file, since systems read only text."""
    found = read_json_lines(find_file(reading.data, "metadata.jsonl"), lambda row: (row.get("file_name"), _gaia_example(row)))
    return [example for file, example in found if not file and example.gold.answers[0] != UNKNOWN]


def _read_browsecomp(reading: BenchmarkInput) -> list[Example[ShortGold]]:
    path = find_file(reading.data, "browse_comp_test_set.csv")
    return read_all(path, _number_rows(read_csv_rows(path)), lambda entry: _browsecomp_example(entry["number"], entry["row"]))


def _read_browsecomp_zh(reading: BenchmarkInput) -> list[Example[ShortGold]]:
    path = find_file(reading.data, "browsecomp-zh-encrypted.xlsx")
    return read_all(
        path, _number_rows(read_sheet_rows(path)), lambda entry: _browsecomp_zh_example(entry["number"], entry["row"])
    )


def _read_xbench(reading: BenchmarkInput) -> list[Example[ShortGold]]:
    path = find_file(reading.data, "DeepSearch-2510.csv", "DeepSearch-2505.csv", "DeepSearch.csv")
    return read_all(path, read_csv_rows(path), _xbench_example)


def _multihop_corpus(reading: BenchmarkInput, _: Path) -> Collection:
    return Collection(name="multihop", kind=CorpusKind.BEIR, path=str(reading.data.resolve()))


MULTIHOP = Benchmark(
    name="multihop",
    about="questions of several hops over pooled paragraphs: right by a judge, exact match, F1, entities met",
    files=lambda reading: [find_file(reading.data, "queries.jsonl", "queries.jsonl.gz")],
    read=_read_multihop,
    score=score_short,
    figures=means_of(RIGHT, EXACT, F1, COVERAGE),
    prompts=PROMPTS,
    corpus=_multihop_corpus,
)
BROWSECOMP = Benchmark(
    name="browsecomp",
    about="BrowseComp: hard to find, easy to check",
    files=lambda reading: [find_file(reading.data, "browse_comp_test_set.csv")],
    read=_read_browsecomp,
    score=score_short,
    figures=means_of(RIGHT, EXACT, F1),
    prompts=PROMPTS,
)
BROWSECOMP_ZH = Benchmark(
    name="browsecomp-zh",
    about="BrowseComp-ZH: the same on the Chinese web",
    files=lambda reading: [find_file(reading.data, "browsecomp-zh-encrypted.xlsx")],
    read=_read_browsecomp_zh,
    score=score_short,
    figures=means_of(RIGHT, EXACT, F1),
    prompts=PROMPTS,
)
XBENCH = Benchmark(
    name="xbench",
    about="xbench DeepSearch: Chinese questions of several steps",
    files=lambda reading: [find_file(reading.data, "DeepSearch-2510.csv", "DeepSearch-2505.csv", "DeepSearch.csv")],
    read=_read_xbench,
    score=score_short,
    figures=means_of(RIGHT, EXACT, F1),
    prompts=PROMPTS,
)
GAIA = Benchmark(
    name="gaia",
    about="GAIA's questions without attached files, by its own comparison",
    files=lambda reading: [find_file(reading.data, "metadata.jsonl")],
    read=_read_gaia,
    score=score_gaia,
    figures=means_of(RIGHT),
    prompts=("short_answer",),
)
