"""The state of a Markov-state run (QSR section 3.4): everything that the next turn reads."""

from app.domain.value import Value


class MarkovState(Value):
    """Memory, plan and report after a chunk. Memory entries and report cite passages by their short ids, as `[p3]`."""

    memory: tuple[str, ...] = ()
    plan: str = ""
    report: str = ""
