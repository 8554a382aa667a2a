"""What the learned judge reads in labelled rows. It learned from no label, so that no row needs to be held out from it."""

from bench.citation_labels import LabelledClaim
from workflows.checks.grading import PairReading
from workflows.judging.claim_grading import read_pair


class PairReadings:
    """The readings of rows, each made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], PairReading | None] = {}

    def read(self, row: LabelledClaim) -> PairReading | None:
        """Return the reading of a row; None where there is no learned judge."""
        key = (row.claim, row.evidence.title, *row.evidence.sentences)
        if key not in self._known:
            self._known[key] = read_pair(row.claim, row.evidence)
        return self._known[key]
