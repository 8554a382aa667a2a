"""The Extended Chain-of-Thought memory that agents share (MindDR section 3.1): append-only, each entry with its origin."""

from enum import StrEnum

from app.domain.value import Value


class MemoryKind(StrEnum):
    """The kind of an entry."""

    INTENT = "intent"
    THOUGHT = "thought"
    FINDING = "finding"
    GAP = "gap"
    NOTE = "note"
    CRITERION = "criterion"


class MemoryEntry(Value):
    """One entry. `agent` wrote it (`user` for a reader's note or criterion); `quote_keys` name the evidence it rests on.

    `addresses` are those of its sources: a search returned them, so an agent that reads the entry may browse them.
    """

    agent: str
    kind: MemoryKind
    text: str
    quote_keys: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


class SharedMemory(Value):
    """The memory that an agent may read at the start of its stage.

    Its content is fixed by the plan (the planning agent's entries, those of the subtask's dependencies, and the reader's notes),
    never by which parallel agent finished first; so the same run gives the same report.
    """

    entries: tuple[MemoryEntry, ...] = ()

    def with_entries(self, *entries: MemoryEntry) -> "SharedMemory":
        """Return this memory with entries appended."""
        return SharedMemory(entries=self.entries + entries)

    def texts_of(self, kind: MemoryKind) -> tuple[str, ...]:
        """Return the texts of one kind of entry, in order."""
        return tuple(e.text for e in self.entries if e.kind is kind)
