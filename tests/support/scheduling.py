"""Decides which tests several processes keep together."""

from xdist.scheduler import LoadScopeScheduling

STACKS = "tests/infra/"


class FileScheduling(LoadScopeScheduling):
    """A scheduler that keeps a file's tests in one process, with one set of fixtures; tests that start stacks take turns."""

    def _split_scope(self, nodeid: str) -> str:
        return STACKS if nodeid.startswith(STACKS) else nodeid.partition("::")[0]
