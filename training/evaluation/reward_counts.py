"""The rewards of stored trajectories that need no judge, as module metrics: MindDR Eq. 6 and 7, DeepRubric Eq. 8."""

from collections.abc import Sequence

from app.domain.trajectory import Trajectory, Turn
from training.evaluation.module_metrics import ACTING
from training.rewards.notations import Notation
from training.rewards.structure import search_reward, step_format_rewards, tool_rewards
from training.rewards.transcript import TOOLS, transcript_of

STEPS = "reward.steps"
TOOL, FORM, SEARCH = "reward.tool", "reward.form", "reward.search"
TAGS = ("<tool_call>", "<answer>")


def count_rewards(trajectory: Trajectory) -> dict[str, float]:
    """Sum the rewards of all steps of the agents that search; a run's search reward is the mean over its agents."""
    tools = TOOLS | {turn.call.name for turn in trajectory.turns if turn.call}
    agents = list(dict.fromkeys(turn.agent for turn in trajectory.turns if turn.step in ACTING))
    read = [transcript_of(trajectory, agent, tools, _notation_of(trajectory.turns, agent)) for agent in agents]
    if not read:
        return {}
    return {
        STEPS: sum(len(transcript.steps) for transcript in read),
        TOOL: sum(sum(tool_rewards(transcript.steps)) for transcript in read),
        FORM: sum(sum(step_format_rewards(transcript.steps)) for transcript in read),
        SEARCH: sum(map(search_reward, read)) / len(read),
    }


def _notation_of(turns: Sequence[Turn], agent: str) -> Notation:
    """Return the notation that an agent was asked for, which is the one that it has written at all."""
    said = (turn.completion.text for turn in turns if turn.agent == agent and turn.completion)
    return Notation.TAGS if any(tag in text for text in said for tag in TAGS) else Notation.SCHEMA
