"""What a recorded run left of its report: prompt, retrieval, outline, text."""

from collections.abc import Sequence

from app.domain.chat import ChatRole
from app.domain.errors import AnswerInvalid
from app.domain.trajectory import Trajectory, Turn
from app.domain.value import Value
from workflows.agents.answer_reading import read_answer
from workflows.agents.reporting.outline import OUTLINE, OutlineAnswer
from workflows.agents.reporting.sections import SECTION

MOST_CHARS = 120_000


class RetrievedText(Value):
    """A passage that a search brought."""

    url: str
    title: str
    text: str


def find_outline(trajectory: Trajectory) -> OutlineAnswer | None:
    """Return the last usable outline; None where there is none."""
    for turn in reversed(trajectory.turns):
        if turn.step == OUTLINE.name and turn.completion is not None:
            try:
                outline = read_answer(OUTLINE, turn.completion.text)
            except AnswerInvalid:
                continue
            if outline.sections:
                return outline
    return None


def find_system_prompt(trajectory: Trajectory) -> str:
    """Return the system prompt of the section writers; empty where no section was written."""
    prompts = (
        m.content for turn in trajectory.turns if _writes_section(turn) for m in turn.messages if m.role is ChatRole.SYSTEM
    )
    return next(prompts, "")


def list_retrieved(trajectory: Trajectory, most_chars: int = MOST_CHARS) -> list[RetrievedText]:
    """Return the distinct passages that the tools brought, in their order, up to a number of characters."""
    passages = {p.key: p for turn in trajectory.turns if turn.result for p in turn.result.passages}
    found = [RetrievedText(url=p.source.url, title=p.source.title, text=p.text) for p in passages.values()]
    return _take_chars(found, most_chars)


def _writes_section(turn: Turn) -> bool:
    return turn.step == SECTION.name and turn.completion is not None


def _take_chars(texts: Sequence[RetrievedText], most: int) -> list[RetrievedText]:
    taken = []
    for each in texts:
        most -= len(each.text)
        if most < 0:
            break
        taken.append(each)
    return taken
