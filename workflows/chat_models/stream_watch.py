"""Watching an answer while it streams: whether tokens come, and whether it has begun to repeat itself."""

from dataclasses import dataclass

from workflows.chat_models.openai_wire import ReceivedAnswer
from workflows.checks.answer_faults import find_loop_at_end

EVERY_CHARS = 2_000
"""How much more has to be said before a loop is looked for again."""


@dataclass(slots=True)
class StreamWatch:
    """What has been heard of one answer. `loops` is true when the answer, or the thinking before it, repeats itself."""

    said: int = 0
    checked: int = 0
    loops: bool = False

    def take(self, heard: ReceivedAnswer) -> bool:
        """Look at what has been received by now, and say whether it is more than before."""
        grew, self.said = heard.said > self.said, heard.said
        if self.said - self.checked >= EVERY_CHARS:
            self.checked = self.said
            self.loops = find_loop_at_end(heard.text or heard.thought)
        return grew
