"""The wish for a training set, as the command line gives it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.domain.errors import InvalidInput

BASE = "base"
"""The option of kinds that sample a policy: the weights whose samples they are."""
_DECIMAL = re.compile(r"\d{1,9}(?:\.\d{1,9})?")


@dataclass(frozen=True, slots=True)
class SetRequest:
    """What kind of set, how many rows, from what, and where it goes.

    `corpora` are collections of the home. `inputs` are files that some kinds read. `against` names public sets (NAME=DATA)
    whose texts no row may have. `options` belong to the kind, which says what they mean. Model files are loaded in this process.
    `candidates` is the most that are worked, whatever becomes of them; None: until there are enough rows.
    """

    kind: str
    out: Path
    rows: int
    seed: int = 0
    corpora: tuple[str, ...] = ()
    inputs: tuple[Path, ...] = ()
    against: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    model_file: Path | None = None
    verifier_file: Path | None = None
    threads: int = 1
    at_once: int = 8
    candidates: int | None = None

    def number(self, option: str, default: int) -> int:
        """Return an option that is a whole number.

        Raises:
            InvalidInput: it is none.
        """
        said = self.options.get(option, str(default))
        if not said.isdecimal():
            raise InvalidInput(f"--option {option} is a whole number, not {said!r}")
        return int(said)

    def decimal(self, option: str, default: float) -> float:
        """Return an option that is a number without a sign.

        Raises:
            InvalidInput: it is none.
        """
        said = self.options.get(option, str(default))
        if _DECIMAL.fullmatch(said) is None:
            raise InvalidInput(f"--option {option} is a number, not {said!r}")
        return float(said)
