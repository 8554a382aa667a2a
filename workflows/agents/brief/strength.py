"""Whether what was found is likely to hold an answer."""

from collections.abc import Sequence

from workflows.agents.brief.ranking import RankedUnit


def is_weak(question: str, ranked: Sequence[RankedUnit], compared: bool) -> bool:
    """Say whether nothing found may answer the question."""
    return False
