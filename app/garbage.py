"""When Python looks for cycles of garbage in a process that works runs."""

import gc

GARBAGE_AT = 50_000  # objects


def collect_rarely() -> None:
    """What is loaded by now stays for good, and turns and requests leave few cycles behind.

    Looking for these costs more than it frees.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_AT)
