"""The configuration of a recipe: a TOML file, read strictly. An unknown key is refused; paths are relative to the file."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationError, ValidationInfo

from app.domain.errors import InvalidInput
from app.domain.key_faults import describe_faults
from app.domain.value import Value
from training.recipes.run_folder import MODEL, ORIGIN

TINY = "tiny-random"


def _resolve(path: Path, info: ValidationInfo) -> Path:
    folder: Path = (info.context or {}).get("folder", Path())
    return (folder / path.expanduser()).resolve()


ConfigPath = Annotated[Path, AfterValidator(_resolve)]
"""A path, relative to the folder of the configuration file."""


class BaseModelSection(Value):
    """The model that learns.

    `base` is a folder in the form of Hugging Face, or that of a run which trained all weights (relative to the file, or in
    `RUBRICA_MODELS_DIR`), the name of a model on the hub with its `revision`, or `tiny-random`: weights made on the spot, for
    trying a recipe. `template` is `chatml` (ours, which keeps earlier messages as they are) or `own` (the tokenizer's).
    `dtype` is the type that the model computes in. `rope_factor` above 1 lengthens the context by YaRN.
    """

    base: str
    revision: str = ""
    template: Literal["chatml", "own"] = "chatml"
    dtype: Literal["float32", "bfloat16"] = "float32"
    rope_factor: float = Field(default=1.0, ge=1)


class AdapterSection(Value):
    """A LoRA adapter. Without this section all weights are trained."""

    rank: int = Field(default=16, ge=1)
    alpha: int = Field(default=32, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: str | list[str] = "all-linear"


class OptimizerSection(Value):
    """How weights are changed. A step takes `batch_size` x `accumulation` examples; an epoch may be a fraction."""

    learning_rate: float = Field(gt=0)
    schedule: Literal["constant", "linear", "cosine", "constant_with_warmup"] = "cosine"
    warmup_ratio: float = Field(default=0.0, ge=0, lt=1)
    weight_decay: float = Field(default=0.0, ge=0)
    max_grad_norm: float = Field(default=1.0, gt=0)
    batch_size: int = Field(default=1, ge=1)
    accumulation: int = Field(default=1, ge=1)
    epochs: float = Field(default=1.0, gt=0)
    gradient_checkpointing: bool = False


class RunSection(Value):
    """Seed, device, how often there are curves (`log_every`) and checkpoints (`save_every`), in steps.

    A run that goes on has the same curves where `save_every` is a multiple of `log_every`: means begin anew at a checkpoint.
    `samples` is the number of examples that the run shows with their masks.
    """

    seed: int = 0
    device: Literal["auto", "cpu"] = "auto"
    log_every: int = Field(default=1, ge=1)
    save_every: int = Field(default=100, ge=1)
    keep: int = Field(default=2, ge=1)
    samples: int = Field(default=8, ge=0)


class CostSection(Value):
    """What training costs: the devices that are paid while it runs, those of vLLM among them, and the price of one for an hour.

    They price the run and change nothing of it: training is one process on one device.
    """

    devices: int = Field(default=1, ge=1)
    dollars_per_hour: float = Field(default=0.0, ge=0)


class RecipeConfig(Value):
    """What every recipe has. A recipe's own configuration adds its sections."""

    model: BaseModelSection
    optimizer: OptimizerSection
    adapter: AdapterSection | None = None
    run: RunSection = RunSection()
    cost: CostSection = CostSection()

    @property
    def weights_dtype(self) -> Literal["float32", "bfloat16"]:
        """The type of the base's weights in memory: float32 where they are trained, as bfloat16 would round small steps away."""
        return self.model.dtype if self.adapter else "float32"

    @property
    def weight_copies(self) -> tuple[str, ...]:
        """What further copies of the weights on the training device are for."""
        return ()

    @property
    def examples_a_step(self) -> int:
        """The examples of a step."""
        return self.optimizer.batch_size * self.optimizer.accumulation


C = TypeVar("C", bound=RecipeConfig)


def read_config(path: Path, form: type[C], models: Path | None = None) -> C:
    """Read a recipe's configuration. `models` is a folder with base models.

    Raises:
        InvalidInput: the file cannot be read, or has an unknown, missing or wrong value; the message names each.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is no TOML: {error}") from error
    return parse_config(text, path, form, path.parent, models)


def parse_config(text: str, path: Path, form: type[C], folder: Path, models: Path | None = None) -> C:
    """Parse the text of a recipe's configuration, which messages name `path`. What it names relatively lies in `folder`.

    Raises:
        InvalidInput: as above.
    """
    try:
        config = form.model_validate(tomllib.loads(text), context={"folder": folder})
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path} is no TOML: {error}") from error
    except ValidationError as error:
        raise InvalidInput(f"{path}: {'; '.join(describe_faults(error, form))}") from error
    found = find_base(config.model.base, [folder, *([models] if models else [])])
    return config.model_copy(update={"model": config.model.model_copy(update={"base": found})})


def find_base(base: str, folders: list[Path]) -> str:
    """Return the folder of a base model in the first of the folders that has it, else the name as it is.

    The name may be that of a run's folder: then it is the model that the run trained.

    Raises:
        InvalidInput: an adapter is there, or a run that is not finished.
    """
    if base == TINY:
        return base
    found = next((place for folder in folders if (place := _find_weights(folder / base))), None)
    return str(found.resolve()) if found else base


def _find_weights(place: Path) -> Path | None:
    """Return a folder with whole weights: this one, or the model of the run that is here; None where there is nothing."""
    if (place / "config.json").exists():
        return place
    if (place / "adapter_config.json").exists():
        raise InvalidInput(
            f"{place} is an adapter, and a recipe begins with whole weights: run `rubrica merge-adapter {place.parent} --out "
            "FOLDER`, and name that folder under [model] base"
        )
    if not (place / ORIGIN).exists():
        return None
    if not (place / MODEL).exists():
        raise InvalidInput(f"the run in {place} is not finished: go on with its command, or name another base")
    return _find_weights(place / MODEL)
