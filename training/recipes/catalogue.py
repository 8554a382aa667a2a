"""The recipes by name. Each is imported at its first use; what needs torch is imported when it trains."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

from app.domain.errors import InvalidInput
from training.recipes.config import RecipeConfig
from training.recipes.preflight import Preflight
from training.recipes.run_folder import TrainingFolder

C = TypeVar("C", bound=RecipeConfig)
LOCATIONS = {
    "sft_cold_start": "SFT_COLD_START",
    "preference_dpo": "PREFERENCE_DPO",
    "self_sft": "SELF_SFT",
    "rubric_generator": "RUBRIC_GENERATOR",
    "search_rl": "SEARCH_RL",
    "agent_rl": "AGENT_RL",
    "report_rl": "REPORT_RL",
}


@dataclass(frozen=True, slots=True)
class Recipe(Generic[C]):
    """A recipe: what it is, the form of its configuration, its check and its training.

    `digest` returns the SHA-256 of the files that it learns from, by name.
    `check` reads the data and says what the run will take; it changes nothing. `train` works in an open folder, goes on from its
    last checkpoint, and leaves the trained model in it.
    """

    name: str
    about: str
    config: type[C]
    check: Callable[[C], Preflight]
    digest: Callable[[C], dict[str, str]]
    train: Callable[[C, TrainingFolder], None]


def load_recipe(name: str) -> Recipe[Any]:
    """Load the recipe of this name.

    Raises:
        InvalidInput: there is none; the message lists the known names.
    """
    if name not in LOCATIONS:
        raise InvalidInput(f"there is no recipe {name!r}; there are {', '.join(LOCATIONS)}")
    found: Recipe[Any] = getattr(import_module(f"training.recipes.{name}.train"), LOCATIONS[name])
    return found
