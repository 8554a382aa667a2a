"""The request for an evaluation run."""

from dataclasses import dataclass
from pathlib import Path

from app.domain.query import Effort, Language, SystemName
from app.domain.writer import Composition
from training.evaluation.harness.caps import NO_CAPS, Caps


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A requested run. A hash of seed and id draws `limit` items; 0: all.

    `reports` are finished reports to judge instead of running a system. `judge_file` is a model file that only judges.
    `judge_chars` is the number of characters of a report that a judge sees (0: all). `temperature` is that of all calls of the
    system; None: each step's own. `threads` are those of a model in this process. `fleet`: a stack runs the system. `composition`
    says how MindDR's chain writes its reports; None: in its usual way.
    """

    benchmark: str
    data: Path
    out: Path
    variant: str = ""
    reference: Path | None = None
    limit: int = 0
    ids: tuple[str, ...] = ()
    language: Language | None = None
    seed: int = 0
    system: SystemName = SystemName.MINDDR
    effort: Effort = Effort.STANDARD
    composition: Composition | None = None
    one_conversation: bool = False
    reports: Path | None = None
    collections: tuple[str, ...] = ()
    model_file: Path | None = None
    judge_file: Path | None = None
    judge_chars: int = 0
    caps: Caps = NO_CAPS
    temperature: float | None = None
    threads: int = 1
    at_once: int = 4
    demonstration: bool = False
    fleet: bool = False
