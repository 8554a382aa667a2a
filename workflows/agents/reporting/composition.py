"""Which way a model composes a report: in one call over whole passages, or by section writers side by side.

One call sees everything at once: it repeats nothing and weighs one thing against another. It needs room for the evidence, and an
answer that holds the report. Section writers need neither: they are for small contexts and for very long reports. A run may name
either (`WriterSettings.composition`).
"""

from app.domain.writer import Composition
from workflows.agents.effort import ROOMY_CONTEXT
from workflows.agents.reporting.desk import ReportDesk

MOST_WORDS_AT_ONCE = 8_000
"""What models write in one answer without losing the thread, in words."""


def choose_composition(desk: ReportDesk) -> Composition:
    """Return the way that the run names; else one call, unless report or evidence are too long for it."""
    if desk.query.writer.composition is not None:
        return desk.query.writer.composition
    evidence = sum(len(desk.book[short].text) for short in desk.book.ids)
    fits = desk.kit.bounds.context_tokens >= ROOMY_CONTEXT or evidence <= desk.kit.bounds.evidence_chars
    return Composition.SINGLE_PASS if fits and desk.words <= MOST_WORDS_AT_ONCE else Composition.SECTIONS
