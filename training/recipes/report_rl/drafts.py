"""The drafts of a rollout, and the citations of its reference."""

import re

from app.domain.trajectory import Trajectory, TurnKind
from training.rewards.against_reference import CountedCitation, count_citations, list_citations
from training.rewards.notations import Notation
from training.rewards.transcript import transcript_of

FIRST_YEAR = 1000
_NUMBERS = re.compile(r"\[\s*(\d{1,4}(?:\s*[,;，、]\s*\d{1,4})*)\s*\]")


def read_drafts(trajectory: Trajectory, notation: Notation) -> dict[str, str]:
    """Return the text that each writer's last turn encloses as its answer; empty where it encloses none, or more than one."""
    writers = dict.fromkeys(turn.agent for turn in trajectory.turns if turn.kind is TurnKind.MODEL)
    return {agent: transcript_of(trajectory, agent, (), notation).answer for agent in writers}


def count_reference_citations(reference: str) -> int:
    """Count the citations of a delivered report, whose citations are numbers, as those of a draft are counted."""
    numbered = _NUMBERS.sub(lambda found: _name_numbers(found[0], found[1]), reference)
    return count_citations([CountedCitation(text, name, 1.0) for text, name in list_citations(numbered)], 0.0)[0]


def _name_numbers(whole: str, numbers: str) -> str:
    found = [number for number in re.findall(r"\d+", numbers) if int(number) < FIRST_YEAR]
    return f"[{', '.join(f'p{number}' for number in found)}]" if found else whole
