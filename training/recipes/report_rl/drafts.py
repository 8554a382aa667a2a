"""A sampled report as the reward reads it: strictly, and with its citations in the form that rewards know.

The writer cites quotes as [q3]; rewards read [p3]. Both letters change places, so that [p3], which the writer was not asked for,
stays a notation of its own.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from app.domain.trajectory import Trajectory, TurnKind
from training.rewards.against_reference import CountedCitation, count_citations, list_citations
from training.rewards.notations import Notation
from training.rewards.transcript import transcript_of

FIRST_YEAR = 1000
_LIST = r"\s*[pq]\d{1,6}(?:\s*[,;，、]\s*[pq]\d{1,6})*\s*"
_CITED = re.compile(rf'[\[(【]{_LIST}[\])】]|<cite\s+id\s*=\s*"{_LIST}"\s*>', re.IGNORECASE)
_PARENTHESISED = re.compile(r"[(（]\s*q.*[)）]", re.IGNORECASE)
_LETTER = re.compile(r"[pq](?=\d)", re.IGNORECASE)
_NUMBERS = re.compile(r"\[\s*(\d{1,4}(?:\s*[,;，、]\s*\d{1,4})*)\s*\]")


def read_drafts(trajectory: Trajectory, notation: Notation) -> dict[str, str]:
    """Return the text that each writer's last turn encloses as its answer; empty where it encloses none, or more than one."""
    writers = dict.fromkeys(turn.agent for turn in trajectory.turns if turn.kind is TurnKind.MODEL)
    return {agent: transcript_of(trajectory, agent, (), notation).answer for agent in writers}


def swap_letters(draft: str) -> str:
    """Write the cited [q3] or (q3) as [p3], and [p3] as [q3]."""

    def swap(found: re.Match[str]) -> str:
        cited = _LETTER.sub(lambda letter: "p" if letter[0] in "qQ" else "q", found[0])
        return f"[{cited[1:-1]}]" if _PARENTHESISED.fullmatch(found[0]) else cited

    return _CITED.sub(swap, draft)


def list_quote_citations(draft: str) -> list[tuple[str, str]]:
    """Return each cited statement of a draft with each quote id that it cites."""
    return [(statement, f"q{name[1:]}") for statement, name in list_citations(swap_letters(draft))]


def count_reference_citations(reference: str) -> int:
    """Count the citations of a delivered report, whose citations are numbers, as those of a draft are counted."""
    numbered = _NUMBERS.sub(lambda found: _name_numbers(found[0], found[1]), reference)
    return count_citations([CountedCitation(text, name, 1.0) for text, name in list_citations(numbered)], 0.0)[0]


def keep_known(citations: Sequence[tuple[str, str]], sources: Mapping[str, str] | Collection[str]) -> list[tuple[str, str]]:
    """Return the different citations of ids that the writer was shown."""
    return list(dict.fromkeys(each for each in citations if each[1] in sources))


def _name_numbers(whole: str, numbers: str) -> str:
    found = [number for number in re.findall(r"\d+", numbers) if int(number) < FIRST_YEAR]
    return f"[{', '.join(f'p{number}' for number in found)}]" if found else whole
