"""The reward of a search (MindDR Eq. 6 to 9) in its parts, and its steps (step-level credit)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import fsum

from app.domain.missing import Missing
from training.recipes.search_rl.schedule import FORMAT_RATE, TOOL_RATE, RewardPart
from training.rewards.composites import SearchWeights, search_agent_reward
from training.rewards.entities import Entity, entity_coverage, is_mentioned
from training.rewards.sameness import fold_text
from training.rewards.score import Score
from training.rewards.structure import SUCCESS, WELL_FORMED, step_format_rewards, tool_rewards
from training.rewards.transcript import Transcript, TranscriptStep
from training.rollouts.nouns import Reward


@dataclass(frozen=True, slots=True)
class StepScores:
    """What each step of a transcript earned: Eq. 6, Eq. 7, and the share of all entities that were met there first."""

    tools: tuple[float, ...]
    formats: tuple[float, ...]
    entities: tuple[float, ...]


def score_steps(transcript: Transcript, entities: Sequence[Entity], published: bool = False) -> StepScores:
    """Score each step. Without entities the last part is 0 everywhere."""
    steps = transcript.steps
    return StepScores(
        tools=tuple(tool_rewards(steps, published)),
        formats=tuple(step_format_rewards(steps)),
        entities=tuple(_share_entities(steps, entities, published)),
    )


def _share_entities(steps: Sequence[TranscriptStep], entities: Sequence[Entity], published: bool) -> list[float]:
    """Return the share of the entities that each step is the first to meet (MindDR 5.2: that step gets their contribution)."""
    shares, met = list[float](), set[Entity]()
    for step in steps:
        texts = [*step.observations, *([step.thought] if published else [])]
        new = _find_mentioned("\n".join(map(fold_text, texts)), entities) - met
        shares.append(len(new) / len(entities) if entities else 0.0)
        met |= new
    return shares


def _find_mentioned(folded: str, entities: Collection[Entity]) -> set[Entity]:
    return {entity for entity in entities if is_mentioned(entity, folded)}


def compose_reward(
    transcript: Transcript, entities: Sequence[Entity], outcome: Score, weights: SearchWeights, published: bool = False
) -> Reward:
    """Return the reward of Eq. 9 with its parts, and for each step of the transcript what these weights make of it.

    A step has the weighted sum of its own Eq. 6 and 7 and of the entities that it met first. Eq. 6 says nothing of a step that
    calls no tool: beside the other steps it earns what their calls earn in the mean, so that to stop is neither paid nor
    punished. The outcome belongs to no step.
    """
    scores = score_steps(transcript, entities, published)
    process = entity_coverage(transcript, entities, published)
    called = [tool for tool in scores.tools if tool]
    parts = {
        RewardPart.TOOL: _mean_of(scores.tools),
        RewardPart.FORMAT: _mean_of(scores.formats),
        RewardPart.PROCESS: process,
        RewardPart.OUTCOME: outcome,
        TOOL_RATE: _rate_of(called, SUCCESS),
        FORMAT_RATE: _rate_of(scores.formats, WELL_FORMED),
    }
    usual = fsum(called) / max(1, len(called))
    steps = tuple(
        weights.tool * (tool or usual) + weights.format * form + weights.process * entity
        for tool, form, entity in zip(scores.tools, scores.formats, scores.entities, strict=True)
    )
    return Reward(search_agent_reward(outcome, process, scores.tools, scores.formats, weights), parts, steps)


def _mean_of(values: Sequence[float]) -> Score:
    return fsum(values) / len(values) if values else Missing("the search has no steps")


def _rate_of(values: Sequence[float], wanted: float) -> Score:
    return values.count(wanted) / len(values) if values else Missing("no step says anything of it")
