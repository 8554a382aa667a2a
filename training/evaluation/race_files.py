"""Readers of RACE's files as DeepResearch Bench publishes them: weighted criteria, judgements, scores of judged systems."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from app.domain.errors import InvalidInput
from app.domain.race_rubric import RaceCriterion, RaceDimension, RaceRubric
from training.evaluation.race import JudgedCriterion, Judgement, RaceScore

OVERALL = "overall_score"
T = TypeVar("T")


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file, gzipped or not.

    Raises:
        InvalidInput: the file cannot be read; the message names the line.
    """
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):  # noqa: B007  (the error messages name the line)
                if line.strip():
                    yield _parse_object(line)
    except (ValueError, EOFError, zlib.error) as error:  # no JSON, no UTF-8; cut short; damaged
        raise InvalidInput(f"{path}, line {number or 1}: {error}") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror or error}") from error


def read_criteria(path: Path) -> dict[int, RaceRubric]:
    """Read the criteria of every task, by its id.

    Raises:
        InvalidInput: the file cannot be read, or the criteria of a task break the rules of `RaceRubric`.
    """
    return dict(_read_each(path, lambda row: (row["id"], _parse_criteria(row))))


def read_judgements(path: Path) -> dict[int, Judgement]:
    """Read judge outputs by task: `{"id", "judgement": {dimension: [{"criterion", "article_1_score", "article_2_score"}]}}`.

    Article 1 is the report, article 2 the reference. Raises as `read_criteria` does.
    """
    return dict(_read_each(path, lambda row: (row["id"], _parse_judgement(row["judgement"]))))


def read_scores(path: Path) -> dict[int, RaceScore]:
    """Read the scores of a judged system, by task. Raises as `read_criteria` does."""
    return dict(
        _read_each(path, lambda row: (row["id"], RaceScore({d: float(row[d]) for d in RaceDimension}, float(row[OVERALL]))))
    )


def read_summary(path: Path) -> dict[str, float]:
    """Read a published summary with `Name: value` on each line, by the names that the scores use."""
    lines = (line.partition(":") for line in path.read_text(encoding="utf-8").splitlines() if line.strip())
    return {name.strip().lower().replace(" ", "_"): float(value) for name, _, value in lines}


def _parse_object(line: str) -> dict[str, Any]:
    found = json.loads(line)
    if not isinstance(found, dict):
        raise ValueError("an object is expected, in braces")
    return found


def _read_each(path: Path, read: Callable[[dict[str, Any]], T]) -> Iterator[T]:
    for row in read_rows(path):
        try:
            yield read(row)
        except KeyError as error:
            raise InvalidInput(f"{path}, task {row.get('id')}: the field {error} is missing") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise InvalidInput(f"{path}, task {row.get('id')}: {error}") from error


def _parse_criteria(row: dict[str, Any]) -> RaceRubric:
    weights = {RaceDimension(name): float(weight) for name, weight in row["dimension_weight"].items()}
    found = {
        RaceDimension(name): tuple(
            RaceCriterion(criterion=item["criterion"], explanation=item.get("explanation") or "", weight=float(item["weight"]))
            for item in items
        )
        for name, items in row["criterions"].items()
    }
    return RaceRubric(weights=weights, criteria=found)


def _parse_judgement(said: dict[str, Any]) -> Judgement:
    return {RaceDimension(name): [_parse_judged(item) for item in items] for name, items in said.items()}


def _parse_judged(item: dict[str, Any]) -> JudgedCriterion:
    return JudgedCriterion(item["criterion"], float(item["article_1_score"]), float(item["article_2_score"]))
