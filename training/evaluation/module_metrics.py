"""MindDR's module metrics of the search stage (Table 1; the tag-format rate of Table 4), counted in stored trajectories.

`harness/module_counts.py` makes figures of these counts. `report_metrics.py` has the metrics of outlines and reports,
`efficiency.py` the series of Fig. 9. The paper names these metrics without defining them; docs/evaluation.md explains the
definitions here and their limits. An acting turn is a model turn at which an agent of any system chooses its next tool call.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import ValidationError

from app.domain.errors import AnswerInvalid
from app.domain.trajectory import Trajectory, Turn, TurnKind
from training.rewards.sameness import query_key_of
from training.rewards.transcript import read_step
from workflows.agents.actions import AgentAct, make_act_step
from workflows.agents.answer_reading import read_answer
from workflows.agents.markov.roles import MOVE
from workflows.agents.parsing import thinking_of

ACTING = {"act": make_act_step(frozenset()), MOVE.name: MOVE}
"""The steps at which agents act, by name."""
_LOOKS_BACK = re.compile(
    r"\b(?:wait|on second thought|re-?(?:consider|examine|think|assess|check|visit)\w*|double-?check\w*"
    r"|(?:cross-?check|verif)\w*"
    r"|(?:was|were|am|is) (?:wrong|mistaken)|(?:not|n['’]t) (?:what|enough|answer|help|cover|found|yet)\w*"
    r"|instead of|contradict\w*|still (?:missing|unclear|open|lack\w*)|so far|reflect\w*|my (?:earlier|previous|last))\b"
    r"|反思|重新|再次|核实|验证|复查|回顾|不对|等等|之前的|目前为止|仍然?(?:缺|不清|未)|还(?:缺|没有|未)|矛盾|有误|换(?:个|一)",
    re.IGNORECASE,
)


class ToolFigures(NamedTuple):
    """A tool's number of calls, its share of all calls, and the share of its calls that failed."""

    calls: int
    share: float
    failure_rate: float


def acting_turns_of(trajectory: Trajectory) -> Iterator[Turn]:
    """Return the model turns at which an agent chose what to do next, in order."""
    return (t for t in trajectory.turns if t.kind is TurnKind.MODEL and t.step in ACTING and t.completion is not None)


def find_reflections(acting: Iterable[Turn]) -> list[bool]:
    """Return for each turn whether its thought looks back on earlier work. An agent's first turn cannot."""
    seen: set[str] = set()
    found = []
    for turn in acting:
        found.append(turn.agent in seen and _LOOKS_BACK.search(_thought_of(turn)) is not None)
        seen.add(turn.agent)
    return found


def queries_of(acting: Iterable[Turn]) -> Iterator[tuple[str, str]]:
    """Yield the tool and input of each requested call, also of a repeated one that the agent's loop refused."""
    for turn in acting:
        act = _read_act(turn)
        if act is not None:
            yield from ((str(act.action), said) for said in act.clean_inputs())


def count_repeated(asked: Sequence[tuple[str, str]]) -> int:
    """Count the calls that have the words of an earlier call to the same tool, in any order, number and tense."""
    kinds = Counter((tool, query_key_of(said)) for tool, said in asked)
    return len(asked) - len(kinds)


def tool_figures_of(trajectories: Iterable[Trajectory]) -> Mapping[str, ToolFigures]:
    """Return calls, shares and failures by tool, over the calls that were made."""
    made = [turn for t in trajectories for turn in t.turns if turn.kind is TurnKind.TOOL and turn.call and turn.result]
    calls = Counter(turn.call.name for turn in made if turn.call)
    failed = Counter(turn.call.name for turn in made if turn.call and turn.result and turn.result.error)
    return {tool: ToolFigures(n, n / len(made), failed[tool] / n) for tool, n in sorted(calls.items())}


def is_well_formed(turn: Turn) -> bool:
    """Say whether an acting turn has the requested form without any repair: one valid JSON object, or tags that close."""
    text = turn.completion.text if turn.completion else ""
    try:
        return bool(ACTING[turn.step].answer.model_validate_json(text).model_fields_set)
    except ValidationError:
        return read_step(text).well_formed


def _thought_of(turn: Turn) -> str:
    text = turn.completion.text if turn.completion else ""
    act = _read_act(turn)
    return f"{thinking_of(text)}\n{act.thought if act else ''}"


def _read_act(turn: Turn) -> AgentAct | None:
    """Read the action of a turn as the agent's loop did; None where it could not."""
    try:
        return read_answer(ACTING[turn.step], turn.completion.text if turn.completion else "")
    except AnswerInvalid:
        return None
