"""The shared memory as the prompts show it: the reader's notes and the results of earlier agents, each with its origin."""

import re

from app.domain.citations import MARKER
from app.domain.query import Language
from workflows.agents.memory import MemoryEntry, MemoryKind, SharedMemory
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

ENTRY_CHARS = 2_500
THOUGHT_CHARS = 300
LAST_THOUGHTS = 3
_SPACE_BEFORE_STOP = re.compile(r"[ \t]+(?=[.,;:。，；：])")


def format_memory(memory: SharedMemory, language: Language) -> str:
    """Return everything this stage may read, or a sentence that there is nothing."""
    parts = [_format_list(say("notes", language), memory.texts_of(MemoryKind.NOTE)), _format_earlier(memory, language)]
    return "\n\n".join(part for part in parts if part) or say("no_memory", language)


def _format_earlier(memory: SharedMemory, language: Language) -> str:
    """Return each agent's findings, last thoughts and gaps, agent by agent in the order of the plan."""
    told = [e for e in memory.entries if e.kind in (MemoryKind.FINDING, MemoryKind.THOUGHT, MemoryKind.GAP)]
    lines: list[str] = []
    for agent in dict.fromkeys(e.agent for e in told):
        mine = [e for e in told if e.agent == agent]
        thoughts = [e for e in mine if e.kind is MemoryKind.THOUGHT][-LAST_THOUGHTS:]
        lines.extend(_format_entry(e) for e in (*thoughts, *(e for e in mine if e.kind is not MemoryKind.THOUGHT)))
    return _format_list(say("earlier", language), lines)


def _format_entry(entry: MemoryEntry) -> str:
    longest = THOUGHT_CHARS if entry.kind is MemoryKind.THOUGHT else ENTRY_CHARS
    return f"[{entry.agent}, {entry.kind.value}] {remove_markers(entry.text)[:longest]}"


def _format_list(heading: str, texts: tuple[str, ...] | list[str]) -> str:
    return "\n".join((f"{heading}:", *(f"- {as_data(text)}" for text in texts))) if texts else ""


def remove_markers(text: str) -> str:
    """Remove the citation markers from the text."""
    return _SPACE_BEFORE_STOP.sub("", MARKER.sub("", text))
