"""Evidence as the prompts show it, within a length."""

from collections.abc import Sequence

from app.domain.evidence import Passage
from workflows.agents.observation import PASSAGE_CHARS, attributes_of
from workflows.agents.untrusted import as_source


def format_passages(passages: Sequence[tuple[str, Passage]], chars: int) -> str:
    """Return all passages under their ids, shortened to the same length so that they fit into `chars`."""
    share = min(PASSAGE_CHARS, max(160, chars // max(1, len(passages)) - 160))
    shown: list[str] = []
    left = chars
    for short, passage in passages:
        line = f'<snippet id="{short}" {attributes_of(passage)}>\n{as_source(passage.text[:share])}\n</snippet>'
        left -= len(line)
        if left < 0 and shown:
            break
        shown.append(line)
    return "\n".join(shown)
