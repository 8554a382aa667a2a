"""Rows of report data with evidence, of which self-samples makes its prompts."""

import json
from pathlib import Path
from typing import Any

from tests.training.synthesis.recorded_run_folders import SENTENCES

QUESTION = "How was the harbour of Ashford deepened?"


def make_row(question: str, **fields: Any) -> dict[str, Any]:
    """A row of report data with two passages; the system prompt asks for nothing but the report."""
    texts = [{"url": f"https://ports.example/{n}", "title": "Ashford", "text": text} for n, text in enumerate(SENTENCES)]
    row = {"query": question, "language": "en", "topic": "History", "documents": [f"doc:{question}"], "retrieval": texts}
    return row | {"system_prompt": "Write a report.", "outline": {}, "asked_on": "2026-11-02"} | fields


def write_prompts(path: Path, prompts: int = 1, **fields: Any) -> Path:
    rows = [make_row(f"{QUESTION} {n}", **fields) for n in range(prompts)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
