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
from training.evaluation.answer_metrics import exact_match, gaia_match, token_f1
from training.evaluation.benchmarks.canary import by_digest, by_itself
from training.evaluation.benchmarks.files import csv_rows, each, one_of, read_all, sheet_rows
from training.evaluation.harness.example import Answer, Benchmark, Example, Reading
from training.evaluation.harness.figures import means
from training.evaluation.harness.judging import Judging
from training.evaluation.harness.scores import Scores, scored
from training.rewards.entities import Entity, folded, mentioned
from training.rewards.score import Score
from workflows.judging.answer_judge import answer_right
from workflows.judging.short_answer import short_answer

PROMPTS = ("short_answer", "answer_right")
RIGHT, EXACT, F1, COVERAGE = "right", "exact_match", "f1", "entity_coverage"
UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class ShortGold:
    """The answers that count as right, and the names that a good search meets on its way, where they are known."""

    answers: tuple[str, ...]
    entities: tuple[Entity, ...] = ()


async def score_short(example: Example[ShortGold], answer: Answer, judging: Judging) -> Scores:
    """Score a report's short answer against the gold answers."""
    gold, coverage = example.gold, entities_met(example, judging)
    said = await short_answer(judging.kit, example.question, answer.text)
    figures: dict[str, Score] = dict.fromkeys((RIGHT, EXACT, F1), said) if isinstance(said, Missing) else {}
    if not isinstance(said, Missing):
        figures[EXACT], figures[F1] = exact_match(said, gold.answers), token_f1(said, gold.answers)
        figures[RIGHT] = await _right(example, said, judging)
    if coverage is not None:
        figures[COVERAGE] = coverage
    return scored(example.id, figures, None if isinstance(said, Missing) else {"answer": said})


async def score_gaia(example: Example[ShortGold], answer: Answer, judging: Judging) -> Scores:
    """Score by GAIA's own comparison (`gaia_match`)."""
    said = await short_answer(judging.kit, example.question, answer.text)
    if isinstance(said, Missing):
        return scored(example.id, {RIGHT: said})
    return scored(example.id, {RIGHT: float(gaia_match(said, example.gold.answers[0]))}, {"answer": said})


async def _right(example: Example[ShortGold], said: str, judging: Judging) -> Score:
    if not said:
        return 0.0
    gold = " / ".join(example.gold.answers)
    verdict = (await answer_right([judging.kit], example.question, gold, said))[0]
    return verdict if isinstance(verdict, Missing) else float(verdict)


def entities_met(example: Example[ShortGold], judging: Judging) -> float | None:
    """Return MindDR's Eq. 8 over the observed passages; None where no entities are known or no system searched."""
    passages = [p.text for turn in judging.turns(example.id) if turn.result for p in turn.result.passages]
    if not example.gold.entities or not passages:
        return None
    seen = "\n".join(map(folded, passages))
    return sum(mentioned(entity, seen) for entity in example.gold.entities) / len(example.gold.entities)


def _multihop(row: dict[str, Any]) -> Example[ShortGold]:
    answers = tuple(row["answers"])
    steps = [str(part["answer"]) for part in row.get("decomposition") or ()]
    names = [name for name in steps if name not in answers] or [str(title) for title in row.get("gold_titles") or ()]
    entities = tuple(Entity(name) for name in dict.fromkeys(names))
    domain = f"{row.get('source', '')}, {row['hops']} hops" if "hops" in row else str(row.get("source", ""))
    return Example(str(row["_id"]), str(row["text"]), detect_language(row["text"]), ShortGold(answers, entities), domain)


def _gaia(row: dict[str, Any]) -> Example[ShortGold]:
    gold = ShortGold((str(row["Final answer"]),))
    return Example(str(row["task_id"]), str(row["Question"]), Language.ENGLISH, gold, f"level {row['Level']}")


def _browsecomp(number: int, row: dict[str, str]) -> Example[ShortGold]:
    question, answer = (by_digest(row[name], row["canary"]) for name in ("problem", "answer"))
    return Example(
        f"browsecomp-{number}", question, detect_language(question), ShortGold((answer,)), row.get("problem_topic", "")
    )


def _browsecomp_zh(number: int, row: dict[str, str]) -> Example[ShortGold]:
    question, answer, topic = (by_digest(row[name], row["canary"]) for name in ("Question", "Answer", "Topic"))
    return Example(f"browsecomp-zh-{number}", question, Language.CHINESE, ShortGold((answer,)), topic)


def _xbench(row: dict[str, str]) -> Example[ShortGold]:
    question, answer = (by_itself(row[name], row["canary"]) for name in ("prompt", "answer"))
    return Example(str(row["id"]), question, detect_language(question), ShortGold((answer,)))


def _numbered(rows: Sequence[dict[str, str]]) -> list[dict[str, Any]]:
    return [{"number": number, "row": row} for number, row in enumerate(rows, 1)]


def _read_multihop(reading: Reading) -> list[Example[ShortGold]]:
    return each(one_of(reading.data, "queries.jsonl", "queries.jsonl.gz"), _multihop)


def _read_gaia(reading: Reading) -> list[Example[ShortGold]]:
    """Read the items that have an answer and no attached file, since systems read only text."""
    found = each(one_of(reading.data, "metadata.jsonl"), lambda row: (row.get("file_name"), _gaia(row)))
    return [example for file, example in found if not file and example.gold.answers[0] != UNKNOWN]


def _read_browsecomp(reading: Reading) -> list[Example[ShortGold]]:
    path = one_of(reading.data, "browse_comp_test_set.csv")
    return read_all(path, _numbered(csv_rows(path)), lambda entry: _browsecomp(entry["number"], entry["row"]))


def _read_browsecomp_zh(reading: Reading) -> list[Example[ShortGold]]:
    path = one_of(reading.data, "browsecomp-zh-encrypted.xlsx")
    return read_all(path, _numbered(sheet_rows(path)), lambda entry: _browsecomp_zh(entry["number"], entry["row"]))


def _read_xbench(reading: Reading) -> list[Example[ShortGold]]:
    path = one_of(reading.data, "DeepSearch-2510.csv", "DeepSearch-2505.csv", "DeepSearch.csv")
    return read_all(path, csv_rows(path), _xbench)


def _multihop_corpus(reading: Reading, _: Path) -> Collection:
    return Collection(name="multihop", kind=CorpusKind.BEIR, path=str(reading.data.resolve()))


MULTIHOP = Benchmark(
    name="multihop",
    about="questions of several hops over pooled paragraphs: right by a judge, exact match, F1, entities met",
    files=lambda reading: [one_of(reading.data, "queries.jsonl", "queries.jsonl.gz")],
    read=_read_multihop,
    score=score_short,
    figures=means(RIGHT, EXACT, F1, COVERAGE),
    prompts=PROMPTS,
    corpus=_multihop_corpus,
)
BROWSECOMP = Benchmark(
    name="browsecomp",
    about="BrowseComp: hard to find, easy to check",
    files=lambda reading: [one_of(reading.data, "browse_comp_test_set.csv")],
    read=_read_browsecomp,
    score=score_short,
    figures=means(RIGHT, EXACT, F1),
    prompts=PROMPTS,
)
BROWSECOMP_ZH = Benchmark(
    name="browsecomp-zh",
    about="BrowseComp-ZH: the same on the Chinese web",
    files=lambda reading: [one_of(reading.data, "browsecomp-zh-encrypted.xlsx")],
    read=_read_browsecomp_zh,
    score=score_short,
    figures=means(RIGHT, EXACT, F1),
    prompts=PROMPTS,
)
XBENCH = Benchmark(
    name="xbench",
    about="xbench DeepSearch: Chinese questions of several steps",
    files=lambda reading: [one_of(reading.data, "DeepSearch-2510.csv", "DeepSearch-2505.csv", "DeepSearch.csv")],
    read=_read_xbench,
    score=score_short,
    figures=means(RIGHT, EXACT, F1),
    prompts=PROMPTS,
)
GAIA = Benchmark(
    name="gaia",
    about="GAIA's questions without attached files, by its own comparison",
    files=lambda reading: [one_of(reading.data, "metadata.jsonl")],
    read=_read_gaia,
    score=score_gaia,
    figures=means(RIGHT),
    prompts=("short_answer",),
)
