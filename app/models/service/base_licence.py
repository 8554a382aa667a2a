"""The licence of the weights that a model was trained on, as their own card says."""

import re
from pathlib import Path

CARD = "README.md"
LICENCE = re.compile(r"^license:\s*[\"']?([^\"'\n]+)", re.MULTILINE)


def read_licence(base: Path) -> str:
    """Return the licence that the card of a base in a folder names; empty without one."""
    card = base / CARD
    found = LICENCE.search(card.read_text(encoding="utf-8", errors="replace")) if card.is_file() else None
    return found.group(1).strip() if found else ""
