"""Making a training set: from candidates to the finished folder."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Generic

from training.decontamination.known_texts import KnownTexts
from training.synthesis.training_set.audit import RowAudit
from training.synthesis.training_set.finishing import finish_set
from training.synthesis.training_set.folder import SetFolder
from training.synthesis.training_set.making import C, MakeRow, SetMaking
from training.synthesis.training_set.manifest import SetOrigin, TrainingSetManifest
from training.synthesis.training_set.mixture import Mixture
from training.synthesis.training_set.outcome import WorkedCandidate
from workflows.judging.batch_record import BatchRecord
from workflows.systems.linear_pipeline import Window


def _count_nothing(_: Sequence[WorkedCandidate]) -> Mapping[str, float]:
    return {}


@dataclass(frozen=True, slots=True)
class SetRecipe(Generic[C]):
    """How a kind of set is made: candidates in their order, a row from each, the statistics of all, and shares of classes.

    `consents_at` is the moment at which readers' consents were looked up, for a set with their texts. `audit` shows rows to
    people.
    """

    candidates: Iterable[C]
    make_row: MakeRow[C]
    count_figures: Callable[[Sequence[WorkedCandidate]], Mapping[str, float]] = _count_nothing
    mixtures: Sequence[Mixture] = ()
    consents_at: datetime | None = None
    audit: RowAudit | None = None


async def make_set(
    recipe: SetRecipe[C],
    origin: SetOrigin,
    path: Path,
    public: KnownTexts,
    at_once: int = 8,
    told: Callable[[WorkedCandidate], None] = lambda _: None,
) -> TrainingSetManifest:
    """Make a set in a folder, or go on where the same set was cut off. No row is a text of `public`.

    Raises:
        Conflict: another process works in the folder, or it holds another set.
        InvalidInput: the folder holds something that is no set, or cannot be written.
        ModelUnavailable, ModelUnusable: the model is away; the same call goes on later.
    """
    folder = SetFolder(path)
    with folder.open_work(origin):
        answers = folder.open_answers()
        try:
            record = BatchRecord(answers, at_once)
            wanted = sys.maxsize if recipe.mixtures else origin.wanted  # a mixture chooses among all rows there are
            making = SetMaking(recipe.make_row, record, folder, wanted, Window(at_once), told)
            worked = await making.work(recipe.candidates)
        finally:
            answers.close()
        rejected = recipe.audit.offer(worked) if recipe.audit else {}
        return finish_set(folder, origin, worked, public, recipe.count_figures(worked), recipe.mixtures, rejected)
