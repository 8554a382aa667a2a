"""The shared memory as the prompts show it: the reader's notes and what earlier agents thought and found, each with its author.

Findings and gaps are always shown. Of the thoughts a reader gets those that bear most on what it works on, whole, as many as fit.
"""

import re
from collections.abc import Sequence

from app.domain.citations import MARKER
from app.domain.query import Language
from workflows.agents.memory import MemoryEntry, MemoryKind, SharedMemory
from workflows.agents.shared_terms import count_shared_terms, terms_of
from workflows.agents.untrusted import as_data
from workflows.agents.wording import say

ENTRY_CHARS = 2_500
THOUGHTS_CHARS = 6_000
"""The room for all thoughts together."""
_SPACE_BEFORE_STOP = re.compile(r"[ \t]+(?=[.,;:。，；：])")


def format_memory(memory: SharedMemory, language: Language, about: str = "") -> str:
    """Return what this stage reads of the memory, empty where there is nothing. `about` is what the stage works on."""
    parts = [_format_list(say("notes", language), memory.texts_of(MemoryKind.NOTE)), _format_earlier(memory, language, about)]
    return "\n\n".join(part for part in parts if part)


def _format_earlier(memory: SharedMemory, language: Language, about: str) -> str:
    """Return each agent's chosen thoughts, findings and gaps, agent by agent in the order of the plan."""
    told = [e for e in memory.entries if e.kind in (MemoryKind.FINDING, MemoryKind.THOUGHT, MemoryKind.GAP)]
    thoughts = [place for place, entry in enumerate(told) if entry.kind is MemoryKind.THOUGHT]
    chosen = {thoughts[i] for i in choose_relevant([told[place].text for place in thoughts], about, THOUGHTS_CHARS)}
    kept = [e for place, e in enumerate(told) if e.kind is not MemoryKind.THOUGHT or place in chosen]
    lines = [_format_entry(e) for agent in dict.fromkeys(e.agent for e in kept) for e in kept if e.agent == agent]
    return _format_list(say("earlier", language), lines)


def choose_relevant(texts: Sequence[str], about: str, chars: int) -> list[int]:
    """Return the places of the texts that share most words with `about`, in their order, as many as fit into `chars`.

    Of texts that share as many, the later is chosen first. No text is cut.
    """
    wanted = terms_of(about)
    best = sorted(range(len(texts)), key=lambda place: (-count_shared_terms(texts[place], wanted), -place))
    chosen: list[int] = []
    for place in best:
        if len(texts[place]) <= chars:
            chosen.append(place)
            chars -= len(texts[place])
    return sorted(chosen)


def _format_entry(entry: MemoryEntry) -> str:
    return f"[{entry.agent}, {entry.kind.value}] {remove_markers(entry.text)[:ENTRY_CHARS]}"


def _format_list(heading: str, texts: tuple[str, ...] | list[str]) -> str:
    return "\n".join((f"{heading}:", *(f"- {as_data(text)}" for text in texts))) if texts else ""


def remove_markers(text: str) -> str:
    """Remove the citation markers from the text."""
    return _SPACE_BEFORE_STOP.sub("", MARKER.sub("", text))
