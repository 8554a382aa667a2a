"""Systems side by side over HTTP."""

from collections.abc import Sequence

from ui.api_client import ApiClient
from ui.client.asking import Rubric, Scorecard
from ui.models import Answer, Run


class Interactions(Answer):
    """Turns of the searching agents, and their tool calls."""

    turns: int = 0
    tool_calls: int = 0


class Column(Answer):
    """One system's run; what is not known yet is None."""

    run: Run
    interactions: Interactions | None = None
    scorecard: Scorecard | None = None
    judging: bool = False
    unjudged: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more comes by itself."""
        return self.run.finished and not self.judging

    @property
    def without_scores(self) -> bool:
        """Whether there is a report that nobody has judged, or is about to."""
        return self.run.status == "completed" and self.scorecard is None and not self.judging


class SideBySide(Answer):
    """The runs of one question on the same evidence; `first` is the one beside which the others stand."""

    first: str
    question: str
    rubric: Rubric | None = None
    columns: tuple[Column, ...] = ()


def side_by_side(api: ApiClient, run_id: str) -> SideBySide:
    """The runs that stand beside this one, itself included."""
    return api._parse(SideBySide, api._send("GET", f"/v1/runs/{run_id}/side-by-side"))


def add_systems(api: ApiClient, run_id: str, systems: Sequence[str]) -> SideBySide:
    """Have further systems work the run's question."""
    return api._parse(SideBySide, api._send("POST", f"/v1/runs/{run_id}/side-by-side", body={"systems": list(systems)}))


def judge(api: ApiClient, run_id: str) -> SideBySide:
    """Have the reports without a scorecard judged by one rubric, which is drafted where there is none."""
    return api._parse(SideBySide, api._send("POST", f"/v1/runs/{run_id}/side-by-side/scores", body={}))
