"""How many files and connections a process may have open."""

import resource

MOST = 65_536
"""Where the machine sets no limit: some programs that we start go through every number up to the limit."""


def allow_open_files() -> int:
    """Let this process, and those that it starts, have as many files open as the machine allows; return how many.

    A shell often allows 1,024 and the machine many more; each connection is a file.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return read_open_files()


def read_open_files() -> int:
    """Return how many files this process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if soft == resource.RLIM_INFINITY else soft
