"""Writes folders of evaluated runs whose scores are known, as `rubrica eval run` leaves them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from app.domain.query import Language
from training.evaluation.harness.caps import NO_CAPS, Caps
from training.evaluation.harness.folder import RunFolder
from training.evaluation.harness.manifest import JudgeUsed, ModelUsed, RunManifest, SystemUsed
from training.evaluation.harness.scores import ItemScores

CHINESE_ITEMS = "zh"


def write_scores(
    path: Path,
    benchmark: str,
    values: Sequence[Mapping[str, float]],
    *,
    system: str = "minddr",
    model: str = "policy",
    variant: str = "",
    judge: str = "judge",
    data: str = "1",
    caps: Caps = NO_CAPS,
    services: tuple[str, ...] = ("web",),
    chinese: int = 0,
    demonstration: bool = False,
) -> Path:
    """Write a run with one item for each of `values`; the last `chinese` of them are Chinese."""
    manifest = RunManifest(
        benchmark=benchmark,
        variant=variant,
        data={"data": data},
        items=tuple(map(str, range(len(values)))),
        system=SystemUsed(name=system, effort="quick", model=ModelUsed(name=model, codec="schema"), caps=caps, services=services),
        judge=JudgeUsed(model=ModelUsed(name=judge, codec="schema")),
        today=date(2026, 11, 2),
        started_at=datetime(2026, 11, 2, tzinfo=UTC),
        demonstration=demonstration,
    )
    folder = RunFolder(path)
    with folder.open_run(manifest):
        for number, found in enumerate(values):
            language = Language.CHINESE if number >= len(values) - chinese else Language.ENGLISH
            folder.keep_scores(ItemScores(item=str(number), values=dict(found), language=language))
    return path


def rows_of(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Read a table's CSV: its rows by label and column."""
    import csv

    with path.open(encoding="utf-8", newline="") as lines:
        return {(row["label"], row["column"]): row for row in csv.DictReader(lines)}
