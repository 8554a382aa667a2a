"""The three tiers of filtering (MindDR 4.4): admission, process, approval. The paper says what each looks at; limits are ours.

Admission and what can be counted are code. Reasoning, relevance, factuality, instructions and coherence are scores of a reviewer.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from app.domain.missing import Missing
from app.domain.trajectory import Trajectory, Turn, TurnKind
from training.evaluation.module_metrics import (
    acting_turns_of,
    count_repeated,
    is_well_formed,
    queries_of,
)
from training.synthesis.recorded_runs import RecordedRun
from workflows.agents.kit import Kit
from workflows.agents.parsing import remove_thinking
from workflows.agents.steps import StepAnswer, declare_step
from workflows.checks.citation_format import find_citation_faults
from workflows.judging.judge_call import ask_judge

ADMISSION, PROCESS, APPROVAL = "admission", "process", "approval"
FEWEST_STEPS, MOST_STEPS = 5, 30
FEWEST_SOURCES = 2
WELL_FORMED = 0.9
MOST_FAILED, MOST_REPEATED = 0.2, 0.2
LEAST_SCORE = 4
SHOWN_STEP, SHOWN_STEPS, SHOWN_REPORT = 700, 24_000, 16_000
WRONG_BELOW = 0.5


class ReviewAnswer(StepAnswer):
    """The reviewer's scores, 1 to 5."""

    weakest: str = Field(default="", description="what is weakest, in one or two sentences")
    reasoning: int = Field(default=0, description="1 to 5")
    relevance: int = Field(default=0, description="1 to 5")
    factuality: int = Field(default=0, description="1 to 5")
    instructions: int = Field(default=0, description="1 to 5")
    coherence: int = Field(default=0, description="1 to 5")


REVIEW = declare_step("trajectory_review", ReviewAnswer, max_tokens=600)
OF_PROCESS, OF_APPROVAL = ("reasoning", "relevance"), ("factuality", "instructions", "coherence")


@dataclass(frozen=True, slots=True)
class TierRefusal:
    """The tier at which a trajectory fell out, and why."""

    tier: str
    reason: str


def check_admission(run: RecordedRun, trajectory: Trajectory) -> TierRefusal | None:
    """Refuse what needs no research: a question of one hop, one source, or a trajectory outside of 5 to 30 steps."""
    steps = count_steps(trajectory)
    sources = {p.source.url for turn in trajectory.turns if turn.result for p in turn.result.passages}
    if run.question.hops == 1:
        return TierRefusal(ADMISSION, "the question needs one hop only")
    if not FEWEST_STEPS <= steps <= MOST_STEPS:
        return TierRefusal(ADMISSION, f"it has {steps} steps, not {FEWEST_STEPS} to {MOST_STEPS}")
    if len(sources) < FEWEST_SOURCES:
        return TierRefusal(ADMISSION, "it saw fewer than two sources")
    return None


def count_steps(trajectory: Trajectory) -> int:
    """Count the steps of the agent with the most: the turns at which it chose what to do next."""
    return max(Counter(turn.agent for turn in acting_turns_of(trajectory)).values(), default=0)


def check_process(trajectory: Trajectory) -> TierRefusal | None:
    """Refuse ill-formed, failed and repeated calls beyond what is allowed."""
    acting = list(acting_turns_of(trajectory))
    tools = [turn for turn in trajectory.turns if turn.kind is TurnKind.TOOL and turn.result]
    asked = {agent: list(queries_of(turn for turn in acting if turn.agent == agent)) for agent in {t.agent for t in acting}}
    well_formed = sum(map(is_well_formed, acting)) / len(acting)
    if well_formed < WELL_FORMED:
        return TierRefusal(PROCESS, "less than nine in ten steps have the form that was asked for")
    if sum(bool(turn.result and turn.result.error) for turn in tools) > MOST_FAILED * len(tools):
        return TierRefusal(PROCESS, "more than one tool call in five failed")
    if sum(map(count_repeated, asked.values())) > MOST_REPEATED * sum(map(len, asked.values())):
        return TierRefusal(PROCESS, "more than one call in five repeats an earlier one")
    return None


def check_approval(run: RecordedRun) -> TierRefusal | None:
    """Refuse a report with faulty citations, and an answer that was judged wrong."""
    if find_citation_faults(run.answer.text):
        return TierRefusal(APPROVAL, "the report's citations are not in form")
    right = run.scores.values.get("right") if run.scores else None
    if right is not None and right < WRONG_BELOW:
        return TierRefusal(APPROVAL, "its answer was judged wrong")
    return None


async def review_trajectory(kit: Kit, run: RecordedRun, trajectory: Trajectory) -> ReviewAnswer | Missing:
    """Ask a reviewer for scores; missing if there is no usable answer."""
    return await ask_judge(
        kit,
        REVIEW,
        _require_scores,
        question=run.question.text,
        steps=_show_steps(trajectory.turns),
        report=run.answer.text[:SHOWN_REPORT],
    )


def check_review(review: ReviewAnswer) -> TierRefusal | None:
    """Refuse what the reviewer scores below 4, at the tier to which the score belongs."""
    for tier, names in ((PROCESS, OF_PROCESS), (APPROVAL, OF_APPROVAL)):
        low = [name for name in names if getattr(review, name) < LEAST_SCORE]
        if low:
            return TierRefusal(tier, f"the reviewer scores its {low[0]} {getattr(review, low[0])} of 5")
    return None


def _require_scores(said: ReviewAnswer) -> ReviewAnswer | None:
    scores = [getattr(said, name) for name in (*OF_PROCESS, *OF_APPROVAL)]
    return said if all(1 <= score <= 5 for score in scores) else None


def _show_steps(turns: Sequence[Turn]) -> str:
    """Show what was said and called, and the titles of what came back, shortened."""
    lines = []
    for turn in turns:
        if turn.completion is not None:
            lines.append(f"[{turn.agent}] {remove_thinking(turn.completion.text)[:SHOWN_STEP]}")
        elif turn.result is not None:
            titles = "; ".join(dict.fromkeys(passage.source.title for passage in turn.result.passages))
            lines.append(f"[{turn.agent}] -> {turn.result.error or titles or 'nothing'}"[:SHOWN_STEP])
    return "\n".join(lines)[:SHOWN_STEPS]
