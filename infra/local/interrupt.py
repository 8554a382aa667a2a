"""How a person stops a command: with Ctrl-C, unless it was started so that it ignores it."""

import os
import signal


def is_ignored() -> bool:
    """Return whether this process ignores Ctrl-C: scripts start what runs in the background so, and children inherit it."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def name_stop() -> str:
    """Return what stops this command: `Ctrl-C`, or the `kill` that does what Ctrl-C would."""
    return f"`kill {os.getpid()}`" if is_ignored() else "Ctrl-C"
