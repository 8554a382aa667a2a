"""A run's manifest: everything it was made with. It is written first, and only the same run may continue its folder."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

from pydantic import Field

from app.domain.errors import Conflict, InvalidInput
from app.domain.value import Value
from training.evaluation.harness.caps import NO_CAPS, Caps

FORMAT = "rubrica.evaluation/1"
NOT_COMPARED = frozenset({"started_at", "today"})
CHUNK = 1 << 20


class ModelUsed(Value):
    """A model, its prices (US$ per million tokens), and its codec of structured answers."""

    name: str
    codec: str
    input_price: Decimal = Decimal(0)
    output_price: Decimal = Decimal(0)


class SystemUsed(Value):
    """The source of the answers. `reports` is the SHA-256 of a file of finished reports where no system ran.

    `model` null: it uses no model. `fleet`: a deployment's workers ran it. `corpora` gives the generation of the index by
    collection; empty strings where a service does not tell it. `caps` are its limits. `temperature` is that of all its calls;
    None: each step's own. `composition` is how it writes its reports; empty: in its usual way.
    `one_conversation`: the answer that ended a search was the report.
    """

    name: str
    effort: str = ""
    composition: str = ""
    one_conversation: bool = False
    model: ModelUsed | None = None
    corpora: dict[str, str] = Field(default_factory=dict)
    services: tuple[str, ...] = ()
    reports: str = ""
    caps: Caps = NO_CAPS
    temperature: float | None = None
    fleet: bool = False


class JudgeUsed(Value):
    """The judge, with the SHA-256 of each of its prompts. `model` null: nothing is judged.

    `most_chars` is the number of characters of a report that it sees; 0: all.
    """

    model: ModelUsed | None = None
    prompts: dict[str, str] = Field(default_factory=dict)
    most_chars: int = 0


class RunManifest(Value):
    """Everything that decides a run's figures. `data` is the SHA-256 of each file read, by name; `prompts` those of all prompts.

    `code` is a digest of the program. `questions` is the origin of its questions (`QuestionOrigin`), empty in runs older than it.
    `demonstration`: nothing here measures anything, and the report says so.
    """

    format: str = FORMAT
    benchmark: str
    variant: str = ""
    data: dict[str, str]
    items: tuple[str, ...]
    questions: str = ""
    seed: int = 0
    system: SystemUsed
    judge: JudgeUsed
    prompts: dict[str, str] = Field(default_factory=dict)
    code: str = ""
    today: date
    started_at: datetime
    demonstration: bool = False

    def require_same(self, other: "RunManifest") -> None:
        """Require that `other` continues this run.

        Raises:
            Conflict: something differs; the message names it.
        """
        mine, theirs = self.model_dump(exclude=set(NOT_COMPARED)), other.model_dump(exclude=set(NOT_COMPARED))
        _forget_untold(mine["system"]["corpora"], theirs["system"]["corpora"])
        if differing := [name for name in mine if mine[name] != theirs[name]]:
            raise Conflict(
                f"this folder holds a run with another {', '.join(differing)}; give a new folder, or what it was begun with"
            )


def _forget_untold(mine: dict[str, str], theirs: dict[str, str]) -> None:
    """Empty the generation of each index that one of two runs does not know: a stack that is asked does not tell it."""
    for name in mine.keys() & theirs.keys():
        if not (mine[name] and theirs[name]):
            mine[name] = theirs[name] = ""


def digest_files(paths: Iterable[Path]) -> dict[str, str]:
    """Return the SHA-256 (hex) of each file by its name, with the names of its folders where two files have the same.

    Raises:
        InvalidInput: a file cannot be read.
    """
    return {name: _digest_of(path) for path, name in name_apart(paths).items()}


def name_apart(paths: Iterable[Path]) -> dict[Path, str]:
    """Return a name of each path: its last part, and as many parts before it as tell it from the others."""
    names = {path: path.name for path in paths}
    parts = 1
    while twice := {name for name, count in Counter(names.values()).items() if count > 1}:
        parts += 1
        names = {path: "/".join(path.parts[-parts:]) if name in twice else name for path, name in names.items()}
    return names


def _digest_of(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(CHUNK):
                digest.update(piece)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
    return digest.hexdigest()
