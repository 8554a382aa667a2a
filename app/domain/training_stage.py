"""A stage of a cycle of retraining: one model, what it learns from, and the server where it is tried and served."""

from decimal import Decimal
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from app.domain.served_models import ModelRole, Notation
from app.domain.value import Value

THE_EXPORT = "@export"
"""Stands, among the inputs of a set, for what the checks left of the cycle's export."""
THE_GENERATOR = "@rubric"
"""Stands for the model that writes a stage's rubrics; as the `generator` of a stage: for what has the role `rubric`."""


def _check_relative(path: str) -> str:
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ValueError(f"{path!r} leaves the plan's folder; name a file beside the plan")
    return path


def _check_input(path: str) -> str:
    if path != THE_EXPORT and not PurePosixPath(path).is_absolute():
        raise ValueError(f"{path!r} is no absolute path, nor {THE_EXPORT!r}: a plan is copied when a cycle starts")
    return path


RelativeFile = Annotated[str, StringConstraints(min_length=1, max_length=300), AfterValidator(_check_relative)]
SetInput = Annotated[str, StringConstraints(min_length=1, max_length=1000), AfterValidator(_check_input)]
StageName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,30}$")]


class ModelServer(Value):
    """The server on which a stage's models are tried and served: it has the base, and loads adapters while it runs.

    `address` ends in `/v1`; `base` is the base's name there, and `licence` that of its weights, by default as their card says.
    `key_setting` names the environment variable with its key, and ends in `_API_KEY`. Prices are US$ per million tokens.
    `temperature` is that at which its models are tried and serve; None: each step's own.
    """

    address: str = Field(pattern=r"^https?://")
    base: str
    licence: str = ""
    key_setting: str = Field(default="", pattern=r"^([A-Z][A-Z0-9_]*_API_KEY)?$")
    notation: Notation = Notation.TAGS
    temperature: float | None = Field(default=None, ge=0, le=2)
    input_price: Decimal = Field(default=Decimal(0), ge=0)
    output_price: Decimal = Field(default=Decimal(0), ge=0)


class TrainingStage(Value):
    """One model of a cycle: what it is trained on and how, what decides whether it may serve, and where it is tried.

    `kind` is that of its set (docs/data.md) and `least_rows` how many rows its training split must have. The set is made of
    `inputs`, or of `collections` of the home in the folder `home` (empty: the deployment's own). `generator` writes the rubrics
    of the set: the version of an earlier stage, or `@rubric`, what has that role. A set ends at `most_rows`.

    `config` is the recipe's TOML, in which the set `@set` is the one of this cycle. `gate` is the gate's TOML, and `exam` that of
    the evaluation which scores candidate and holder item by item, or those of several. The cycle gives the model its `role`;
    `also` names further roles that the same model is meant for, so that the gate asks for what they move, too.
    """

    name: StageName
    role: ModelRole
    also: tuple[ModelRole, ...] = ()
    recipe: str
    config: RelativeFile
    kind: str
    least_rows: int = Field(default=50, ge=1)
    most_rows: int = Field(default=10_000_000, ge=1)
    options: dict[str, str] = Field(default={})
    inputs: tuple[SetInput, ...] = (THE_EXPORT,)
    collections: tuple[str, ...] = ()
    home: str = Field(default="", pattern="^(/.*)?$")
    generator: StageName | Literal["@rubric"] | None = None
    gate: RelativeFile
    exam: Annotated[
        tuple[RelativeFile, ...], Field(min_length=1), BeforeValidator(lambda told: (told,) if isinstance(told, str) else told)
    ]
    server: ModelServer
    needs: StageName | None = None

    @property
    def roles(self) -> frozenset[ModelRole]:
        """All roles that the model is meant for."""
        return frozenset((self.role, *self.also))

    @property
    def makes_rubrics(self) -> bool:
        """Whether its model is a generator of rubrics."""
        return ModelRole.RUBRIC in self.roles

    @model_validator(mode="after")
    def _check_sources(self) -> Self:
        if self.inputs and self.collections:
            raise ValueError(
                f"the set of {self.name} is made of inputs or of collections: say inputs = [], or name no collection"
            )
        if self.home and not self.collections:
            raise ValueError(f"{self.name} names a home, and no collections of it")
        if self.generator and "generator" in self.options:
            raise ValueError(f"{self.name} names its generator twice; take it out of the options")
        return self
