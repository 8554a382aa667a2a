"""The configuration of the recipe, read from TOML. An unknown key is refused; paths are relative to the file."""

import tomllib
from pathlib import Path

from pydantic import Field, ValidationError

from app.domain.errors import InvalidInput
from app.domain.value import Value


class DataSection(Value):
    """What is learned from: files of pairs, or sets of the kind `claim-support`.

    `thinned` names kinds of which only a share `kept` is used, since rules see them already.
    """

    pairs: tuple[str, ...]
    thinned: tuple[str, ...] = ()
    kept: float = Field(default=1.0, gt=0, le=1)
    validation: float = Field(default=0.06, gt=0, lt=1)


class EncoderSection(Value):
    """The encoder: a BERT checkpoint's folder, of which the first layers and the most frequent tokens are kept."""

    checkpoint: str
    layers: int = Field(ge=1)
    vocabulary: int = Field(ge=200)


class HeadSection(Value):
    """The size of the head's vectors, the width of what it finds, and its dropout."""

    size: int = Field(default=128, ge=2)
    width: int = Field(default=96, ge=2)
    dropout: float = Field(default=0.1, ge=0, lt=1)


class OptimizerSection(Value):
    """How the head is fitted."""

    epochs: float = Field(gt=0)
    batch_size: int = Field(default=32, ge=1)
    learning_rate: float = Field(default=1.2e-3, gt=0)
    weight_decay: float = Field(default=0.02, ge=0)


class LimitsSection(Value):
    """`lost`: the greatest share of the honest validation pairs that rules pass, and that the judge's limit may lie above."""

    lost: float = Field(default=0.03, ge=0, lt=1)


class ClaimJudgeConfig(Value):
    """The whole configuration."""

    data: DataSection
    encoder: EncoderSection
    head: HeadSection = HeadSection()
    optimizer: OptimizerSection
    limits: LimitsSection = LimitsSection()
    seed: int = 0


def read_config(path: Path) -> ClaimJudgeConfig:
    """Read a configuration.

    Raises:
        InvalidInput: the file cannot be read, or has an unknown, missing or wrong value.
    """
    try:
        return ClaimJudgeConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise InvalidInput(f"{path}: {error}") from error
