"""Making a training set: from candidates to the finished folder."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from training.decontamination.known_texts import KnownTexts
from training.synthesis.training_set.finishing import finish_set
from training.synthesis.training_set.folder import SetFolder
from training.synthesis.training_set.making import C, SetMaking
from training.synthesis.training_set.manifest import SetOrigin, TrainingSetManifest
from training.synthesis.training_set.mixture import Mixing
from training.synthesis.training_set.outcome import WorkedCandidate
from training.synthesis.training_set.recipe import SetRecipe
from workflows.judging.batch_record import BatchRecord
from workflows.systems.linear_pipeline import Window


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
            candidates, mixing = mix_candidates(recipe, origin)
            wanted = sys.maxsize if recipe.mixtures else origin.wanted  # of a mixture each class has its own room
            making = SetMaking(recipe.make_row, record, folder, wanted, Window(at_once), told, mixing.plan_room())
            worked = await making.work(candidates)
        finally:
            answers.close()
        rejected = recipe.audit.offer(worked) if recipe.audit else {}
        return finish_set(folder, origin, recipe, worked, public, rejected, mixing)


def mix_candidates(recipe: SetRecipe[C], origin: SetOrigin) -> tuple[Iterable[C], Mixing]:
    """Return the candidates in the order in which they are worked, and how their rows are mixed."""
    if not recipe.mixtures:
        return recipe.candidates, Mixing()
    candidates = {candidate.id: candidate for candidate in recipe.candidates}
    classes = {name: recipe.classify(candidate) for name, candidate in candidates.items()}
    mixing = Mixing(recipe.mixtures, classes, origin.wanted, origin.seed)
    return [candidates[name] for name in mixing.order_candidates()], mixing
