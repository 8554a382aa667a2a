"""How often Python looks for cycles of garbage in a process that serves many runs."""

import gc

NEW_OBJECTS = 50_000


def collect_garbage_rarely() -> None:
    """Leave out of later collections what is loaded by now, and begin one only after 50,000 new objects.

    With Python's own threshold of 700 a worker with 64 runs spends a seventh of its CPU time on collections.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS)
