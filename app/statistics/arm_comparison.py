"""The comparison of one figure of two arms that serve different runs, as a test that may be read after every run."""

from enum import StrEnum
from math import log
from statistics import fmean

from app.statistics.bounded_mean import MeanTest


class Arm(StrEnum):
    """The model that served a run."""

    CANARY = "canary"
    STABLE = "stable"


class ArmComparison:
    """The mean difference of a figure, canary minus stable, against the largest that is allowed.

    Each canary run, or the mean of several in a row, is set against the mean of the stable runs beside it, so that an hour in
    which all is slow moves both. Differences are cut at `most`. Which run is set against which may not depend on the figures:
    values come in the order in which their runs began.

    `lost` says that the difference is shown to be above `allowed` (wrong with a chance of `alpha_lost`), `kept` that it is shown
    to be below (`alpha_kept`). Both stay.
    """

    def __init__(self, allowed: float, most: float, alpha_lost: float, alpha_kept: float) -> None:
        self._test = MeanTest(allowed, -most, most, alpha_kept)
        self._lost_at, self._kept_at = -log(alpha_lost), -log(alpha_kept)
        self._open: dict[Arm, list[float]] = {arm: [] for arm in Arm}
        self.lost = self.kept = False

    def observe(self, arm: Arm, value: float) -> None:
        """Take a value of one arm. A comparison closes as soon as both arms have a value in it."""
        self._open[arm].append(value)
        if all(self._open.values()):
            self._test.observe(fmean(self._open[Arm.CANARY]) - fmean(self._open[Arm.STABLE]))
            self._open = {arm: [] for arm in Arm}
            self.lost = self.lost or self._test.log_above >= self._lost_at
            self.kept = self.kept or self._test.log_below >= self._kept_at
