"""A plugin of pytest (`-p tests.support.without_extras`) that hides each package that requirements.lock does not name.

So an environment with extras collects what one without them does.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions
from types import ModuleType
from typing import Any

from infra.extras import list_locked


def find_extra_modules() -> frozenset[str]:
    """Return the top-level modules that no locked package brings."""
    locked = {_normalise(requirement.partition("==")[0]) for requirement in list_locked()} | {"rubrica", "pip", "setuptools"}
    return frozenset(
        module for module, packages in packages_distributions().items() if locked.isdisjoint(map(_normalise, packages))
    )


def _normalise(package: str) -> str:
    return package.lower().replace("_", "-").replace(".", "-")


class HidingFinder:
    """A finder of modules that finds what another one finds, without the hidden ones."""

    def __init__(self, finder: Any, hidden: frozenset[str]) -> None:
        self._finder, self._hidden = finder, hidden

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Find a module, unless it is hidden."""
        if name.partition(".")[0] in self._hidden:
            return None
        found: ModuleSpec | None = self._finder.find_spec(name, path, target)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)


HIDDEN = find_extra_modules()
sys.meta_path[:] = [HidingFinder(finder, HIDDEN) for finder in sys.meta_path]
