"""Process reward (MindDR Eq. 8): the share of the key intermediate entities that a search met, by string matching.

The paper also looks into thoughts, so that a policy can earn the reward by listing likely names there. Here only an observed
entity counts (ADR 0042); `published` counts thoughts too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.missing import Missing
from retrieval.language.whole_names import find_name
from training.rewards.sameness import fold_text
from training.rewards.score import Score
from training.rewards.transcript import Transcript


@dataclass(frozen=True, slots=True)
class Entity:
    """A name that a good search meets on its way, with other names for the same thing."""

    name: str
    aliases: tuple[str, ...] = ()


def is_mentioned(entity: Entity, folded_text: str) -> bool:
    """Say whether the text names the entity, as whole words. Ideographs are found anywhere."""
    return any(find_name(fold_text(name).strip(), folded_text) >= 0 for name in (entity.name, *entity.aliases))


def entity_coverage(transcript: Transcript, entities: Sequence[Entity], published: bool = False) -> Score:
    """Return the coverage of Eq. 8, from 0 to 1; Missing without entities, where it is undefined."""
    if not entities:
        return Missing("no entities are known for this question")
    seen = [text for step in transcript.steps for text in step.observations]
    if published:
        seen += [step.thought for step in transcript.steps]
    text = "\n".join(fold_text(piece) for piece in seen)
    return sum(is_mentioned(entity, text) for entity in entities) / len(entities)
