"""RACE's files: criteria with weights, judgements, and the scores of judged systems, as DeepResearch Bench publishes them."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.domain.errors import InvalidInput
from app.domain.race_rubric import Dimension, RaceCriterion, RaceRubric
from training.evaluation.race import JudgedCriterion, Judgement, RaceScore

OVERALL = "overall_score"


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON Lines file, gzipped or not.

    Raises:
        InvalidInput: it cannot be read; the message names the line.
    """
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as error:
                    raise InvalidInput(f"{path}, line {number}: {error}") from error


def read_criteria(path: Path) -> dict[int, RaceRubric]:
    """The criteria of every task, by its id.

    Raises:
        InvalidInput: the file cannot be read, or the criteria of a task break the rules of `RaceRubric`.
    """
    found: dict[int, RaceRubric] = {}
    for row in rows(path):
        try:
            found[row["id"]] = _criteria(row)
        except ValueError as error:
            raise InvalidInput(f"{path}, task {row['id']}: {error}") from error
    return found


def read_judgements(path: Path) -> dict[int, Judgement]:
    """Judge outputs by task: `{"id", "judgement": {dimension: [{"criterion", "article_1_score", "article_2_score"}]}}`.

    Article 1 is the report, article 2 the reference.
    """
    return {row["id"]: _judgement(row["judgement"]) for row in rows(path)}


def read_scores(path: Path) -> dict[int, RaceScore]:
    """The scores of a system that has been judged, by task."""
    return {row["id"]: RaceScore({d: float(row[d]) for d in Dimension}, float(row[OVERALL])) for row in rows(path)}


def read_summary(path: Path) -> dict[str, float]:
    """A published summary, `Name: value` a line, by the names the scores use."""
    lines = (line.partition(":") for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return {name.strip().lower().replace(" ", "_"): float(value) for name, _, value in lines}


def _criteria(row: dict[str, Any]) -> RaceRubric:
    weights = {Dimension(name): float(weight) for name, weight in row["dimension_weight"].items()}
    found = {
        Dimension(name): tuple(
            RaceCriterion(criterion=item["criterion"], explanation=item.get("explanation") or "", weight=float(item["weight"]))
            for item in items
        )
        for name, items in row["criterions"].items()
    }
    return RaceRubric(weights=weights, criteria=found)


def _judgement(said: dict[str, Any]) -> Judgement:
    return {Dimension(name): [_judged(item) for item in items] for name, items in said.items()}


def _judged(item: dict[str, Any]) -> JudgedCriterion:
    return JudgedCriterion(item["criterion"], float(item["article_1_score"]), float(item["article_2_score"]))
