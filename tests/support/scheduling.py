"""Which tests several processes keep together."""

from xdist.scheduler import LoadScopeScheduling

STACKS = "tests/infra/"


class ByFile(LoadScopeScheduling):
    """A file's tests stay in one process, which makes its fixtures once; those that start whole stacks take turns."""

    def _split_scope(self, nodeid: str) -> str:
        return STACKS if nodeid.startswith(STACKS) else nodeid.partition("::")[0]
