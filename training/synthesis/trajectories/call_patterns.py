"""The way in which a trajectory uses its tools (MindDR 4.4): one after the other, several at once, or deeper and deeper.

The paper names the three patterns without defining them; the rules are ours.
"""

from collections.abc import Sequence
from enum import StrEnum

from app.domain.trajectory import Trajectory, Turn, TurnKind
from training.evaluation.module_metrics import acting_turns_of, queries_of

BROWSE = "browse"
SEVERAL = 0.5
DEEPER = 2


class CallPattern(StrEnum):
    """`sequential`: a call, its result, the next call. `parallel`: half of the acting turns or more make several calls.

    `hierarchical`: at least twice a page is opened that a search of the same agent had found.
    """

    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"
    HIERARCHICAL = "hierarchical"


def classify_calls(trajectory: Trajectory) -> CallPattern:
    """Return the pattern; a trajectory that goes deeper is hierarchical, also where it makes several calls at once."""
    if _count_deeper(trajectory.turns) >= DEEPER:
        return CallPattern.HIERARCHICAL
    acting = list(acting_turns_of(trajectory))
    several = sum(len(list(queries_of([turn]))) > 1 for turn in acting)
    return CallPattern.PARALLEL if acting and several >= SEVERAL * len(acting) else CallPattern.SEQUENTIAL


def _count_deeper(turns: Sequence[Turn]) -> int:
    found: dict[str, set[str]] = {}
    deeper = 0
    for turn in turns:
        if turn.kind is TurnKind.TOOL and turn.call is not None and turn.result is not None:
            known = found.setdefault(turn.agent, set())
            if turn.call.name == BROWSE:
                deeper += any(str(value) in known for value in turn.call.arguments.values())
            else:
                known.update(passage.source.url for passage in turn.result.passages)
    return deeper
