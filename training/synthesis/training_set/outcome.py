"""The outcome of a candidate: a row of the set, or the reason why it fell out."""

from typing import Any

from pydantic import Field

from app.domain.budget import Usage
from app.domain.query import Language
from app.domain.split import Split
from app.domain.value import Value


class KeptRow(Value):
    """A row of a training set.

    `query` may stand in one split only, and so may its near-copies. `documents` are the addresses of all documents that the row
    was made from. `data` is what training reads. `counts` are numbers for the set's report. `split` is the side on which the
    row's source already put its query.
    """

    query: str
    topic: str
    language: Language
    documents: tuple[str, ...]
    data: dict[str, Any]
    counts: dict[str, float] = Field(default_factory=dict)
    split: Split | None = None


class RefusedCandidate(Value):
    """A candidate that fell out at a stage, and why. `data` is what there was of it, for people who read the refusals."""

    stage: str
    reason: str
    data: dict[str, Any] = Field(default_factory=dict)


class WorkedCandidate(Value):
    """A line of the journal: a candidate with its outcome, and what its model calls cost."""

    candidate: str
    kept: KeptRow | None = None
    refused: RefusedCandidate | None = None
    usage: Usage = Usage()
