"""The manifest of a training set: everything it was made with, and everything that is in it."""

from datetime import date, datetime
from sys import maxsize
from typing import Any

from pydantic import Field

from app.domain.budget import Usage
from app.domain.errors import Conflict
from app.domain.value import Value
from training.evaluation.harness.manifest import ModelUsed
from training.rewards.notations import Notation
from training.synthesis.training_set.mixture import ClassShare

FORMAT = "rubrica.training_set/1"
GROWING = frozenset({"wanted", "most_candidates"})


class SetOrigin(Value):
    """Everything that decides the bytes of a set. It is written first, and only the same set may go on in its folder.

    A set may be made larger: `wanted` rows and `most_candidates` (None: without a limit) may grow. `files` has the SHA-256 of
    each input and of each public set.

    `corpora` gives the generation of the index by collection. `models` are named by their roles. `prompts` has the SHA-256 of
    each prompt. `base` is the lineage of the weights whose own outputs the set has (`training/base_lineage.py`); else empty.
    `notation` is that of the answers from which a policy learns; None where the set has none, as pairs of rendered reports.
    `against` has the number of texts of each public set that the rows may not repeat. `consents_at` is the moment
    at which readers' consents were looked up, for a set with their texts.
    """

    format: str = FORMAT
    kind: str
    wanted: int
    seed: int
    most_candidates: int | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    files: dict[str, str] = Field(default_factory=dict)
    corpora: dict[str, str] = Field(default_factory=dict)
    models: dict[str, ModelUsed] = Field(default_factory=dict)
    prompts: dict[str, str] = Field(default_factory=dict)
    base: dict[str, str] = Field(default_factory=dict)
    notation: Notation | None = None
    against: dict[str, int] = Field(default_factory=dict)
    code: str
    today: date
    consents_at: datetime | None = None

    def require_same(self, other: "SetOrigin") -> None:
        """Require that `other` is the same set, or a larger one.

        Raises:
            Conflict: something differs; the message names it.
        """
        if changed := [name for name in self.files if other.files.get(name, self.files[name]) != self.files[name]]:
            raise Conflict(f"the {changed[0]} has changed since this set was begun; give a new folder, or what it was")
        if other.wanted < self.wanted or (other.most_candidates or maxsize) < (self.most_candidates or maxsize):
            raise Conflict("a set can be made larger, not smaller: give as many rows and candidates, or a new folder")
        mine, theirs = self.model_dump(exclude=set(GROWING)), other.model_dump(exclude=set(GROWING))
        if differing := [name for name in mine if mine[name] != theirs[name]]:
            raise Conflict(
                f"this folder holds a set with another {', '.join(differing)}; give a new folder, or what it was begun with"
            )


class TrainingSetManifest(Value):
    """What a set is made with, and what is in it.

    `rows` are counted by split, `refused` by stage, `known` by the public set that has the row already. `files` has the SHA-256
    of each file. `usage` is what all its candidates cost, also those that fell out. `figures` are the set's own statistics.
    `shares` are those of a mixture, by its name and by class. `notices` are sentences about what the set lacks.
    `near_duplicates_by` is the measure by which the splits found them.
    """

    origin: SetOrigin
    candidates: int
    rows: dict[str, int]
    refused: dict[str, int]
    known: dict[str, int]
    files: dict[str, str]
    usage: Usage
    figures: dict[str, float] = Field(default_factory=dict)
    shares: dict[str, dict[str, ClassShare]] = Field(default_factory=dict)
    notices: list[str] = Field(default_factory=list)
    near_duplicates_by: str = ""
