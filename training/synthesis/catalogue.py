"""The kinds of training sets by name. Each is imported at its first use."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from app.domain.errors import InvalidInput
from training.synthesis.training_set.recipe import SetRecipe
from training.synthesis.workshop import Workshop

LOCATIONS = {
    "graph-queries": ("graph_queries.set_recipe", "GRAPH_QUERIES"),
    "report-data": ("report_data.set_recipe", "REPORT_DATA"),
    "trajectories": ("trajectories.set_recipe", "TRAJECTORIES"),
    "evidence-trees": ("evidence_trees.set_recipe", "EVIDENCE_TREES"),
    "preference-pairs": ("preference_pairs.set_recipe", "PREFERENCE_PAIRS"),
    "self-samples": ("self_samples.set_recipe", "SELF_SAMPLES"),
}


@dataclass(frozen=True, slots=True)
class SetKind:
    """A kind of set: what it is, how its recipe is opened in a workshop, and the names of its options."""

    name: str
    about: str
    open_recipe: Callable[[Workshop], SetRecipe[Any]]
    options: frozenset[str]

    def require_known(self, options: Iterable[str]) -> None:
        """Require that the kind has these options.

        Raises:
            InvalidInput: it lacks one; the message lists those that it has.
        """
        if unknown := sorted(set(options) - self.options):
            known = ", ".join(sorted(self.options)) or "none"
            raise InvalidInput(f"{self.name} has no option {unknown[0]!r}; it has {known}")


def load_kind(name: str) -> SetKind:
    """Load the kind of this name.

    Raises:
        InvalidInput: there is none; the message lists the known names.
    """
    if name not in LOCATIONS:
        raise InvalidInput(f"there is no kind of set {name!r}; there are {', '.join(sorted(LOCATIONS))}")
    module, attribute = LOCATIONS[name]
    found: SetKind = getattr(import_module(f"training.synthesis.{module}"), attribute)
    return found
