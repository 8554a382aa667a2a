"""Makes every call of the client with examples."""

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from rubrica_client import (
    accounts,
    asking,
    cycles,
    documents,
    organisation,
    preferences,
    registry,
    reports,
    runs,
    schedules,
    service,
    webhooks,
)
from rubrica_client.request import Request

MODULES: tuple[ModuleType, ...] = (
    accounts,
    asking,
    cycles,
    documents,
    organisation,
    preferences,
    registry,
    reports,
    runs,
    schedules,
    service,
    webhooks,
)
EXAMPLES: dict[str, Any] = {"limit": 3, "n": 1, "old": 1, "new": 2, "section": 0, "claim": 0, "days": 7, "overlap": 2}
EXAMPLES |= {
    "version": 1,
    "finish": True,
    "present_models": True,
    "person": True,
    "organisation": True,
    "role": "member",
    "how": "rewrite",
}
EXAMPLES |= {"present_models": True}


def list_functions() -> Iterator[tuple[str, Callable[..., Request[Any]]]]:
    """Yield name and function of each call."""
    for module in MODULES:
        for name, function in vars(module).items():
            if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_"):
                yield f"{module.__name__}.{name}", function


def make_example_request(function: Callable[..., Request[Any]], **given: Any) -> Request[Any]:
    """Make the request of a function from examples, and from what is given in place of some."""
    examples = {name: _make_example(parameter) for name, parameter in inspect.signature(function).parameters.items()}
    return function(**{**examples, **given})


def _make_example(parameter: inspect.Parameter) -> Any:
    kind = parameter.annotation
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind.model_construct()
    if parameter.name in EXAMPLES:
        return EXAMPLES[parameter.name]
    return [] if "Sequence" in str(kind) else f"given-{parameter.name}"
